import fc from 'fast-check';
import { ORDERS, TIES, UPDATES, type BoardDefinition, type ResolvedEvent } from '#board';

/** Random boards and events, made so that the hard cases are common: ties, equal times, late events, the limits. */

/** One record of a random log. `gap` is how many offsets (of control records) come before it. */
export type LogRecord = { readonly gap: number } & (
  | { readonly kind: 'event'; readonly board: number; readonly event: ResolvedEvent }
  | { readonly kind: 'deadLetter'; readonly code: string; readonly detail: string }
);

/** Ids that sort differently by bytes, by UTF-16 and by locale, and that are prefixes of each other. */
// prettier-ignore
export const PLAYER_IDS = [
  'B', 'a', 'aa', 'aab', 'Z', 'é', 'e\u0301', '😀', '\uFFFD', 'ß', '0', '-1', 'a b', '~', '中', 'a\u00A0',
] as const;

const ATTRIBUTES = { region: ['eu', 'us 1', 'ü=%'], mode: ['duo', ''] } as const;
const SAFE = Number.MAX_SAFE_INTEGER;
const BASE_TIME = Date.parse('2026-11-20T09:00:00.000Z');

/** The run's own settings for fast-check: RANKLOG_TEST_SEED repeats a run, RANKLOG_TEST_RUNS makes it longer. */
export function runs(usual: number): { numRuns: number; seed?: number } {
  const { RANKLOG_TEST_RUNS, RANKLOG_TEST_SEED } = process.env;
  return {
    numRuns: RANKLOG_TEST_RUNS === undefined ? usual : Number(RANKLOG_TEST_RUNS),
    ...(RANKLOG_TEST_SEED === undefined ? {} : { seed: Number(RANKLOG_TEST_SEED) }),
  };
}

export function definitionArbitrary(board: string): fc.Arbitrary<BoardDefinition> {
  return fc.record({
    board: fc.constant(board),
    columns: fc
      .array(
        fc.record({
          update: fc.constantFrom(...UPDATES),
          order: fc.constantFrom(...ORDERS),
          decimals: fc.constantFrom(0, 0, 1, 2, 3, 4, 15),
        }),
        { minLength: 1, maxLength: 5 },
      )
      .map((columns) => columns.map((column, index) => ({ name: `c${index}`, ...column }))),
    ties: fc.constantFrom(...TIES),
    windows: fc.constant(['all'] as const),
    dimensions: fc.constantFrom<string[][]>(
      [[]],
      [[], ['region']],
      [['mode', 'region'], ['region']],
      [[], ['mode'], ['region', 'mode']],
    ),
    maxAheadMs: fc.constant(3_600_000),
  });
}

/** An event of a board, its values in sort direction; a sum's value may be missing. */
export function eventArbitrary(
  definition: BoardDefinition,
  players: readonly string[],
): fc.Arbitrary<ResolvedEvent> {
  return fc
    .record({
      playerId: fc.constantFrom(...players),
      occurredAt: timeArbitrary,
      values: fc.tuple(
        ...definition.columns.map(({ update }) =>
          update === 'sum' ? fc.option(valueArbitrary, { freq: 4 }) : valueArbitrary,
        ),
      ),
      region: fc.constantFrom(...ATTRIBUTES.region),
      mode: fc.constantFrom(...ATTRIBUTES.mode),
    })
    .map(({ region, mode, ...event }) => ({
      ...event,
      views: definition.dimensions.map((names) => viewText(names, { region, mode })),
    }));
}

function viewText(names: readonly string[], attributes: Readonly<Record<string, string>>): string {
  return ['all', ...names.map((name) => `${name}=${encodeURIComponent(attributes[name]!)}`)].join(
    ' ',
  );
}

export const valueArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 0, 1, -1, 2) },
  { weight: 2, arbitrary: fc.integer({ min: -300, max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(SAFE, -SAFE, SAFE - 1, 1 - SAFE, 2 ** 52, -(2 ** 52)) },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
);

/** Few distinct times, in any order; now and then before 1970 or at an end of the range. */
export const timeArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 5 }).map((ms) => BASE_TIME + ms) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      Date.parse('0001-01-01T00:00:00.000Z'),
      Date.parse('9999-12-31T23:59:59.999Z'),
    ),
  },
);

/** A log for each partition; a player's events all are in one. */
export function logsArbitrary(
  definitions: readonly BoardDefinition[],
  { partitions, records }: { partitions: number; records: number },
): fc.Arbitrary<LogRecord[][]> {
  const logs = Array.from({ length: partitions }, (_, partition) =>
    fc.array(recordArbitrary(definitions, playersOf(partition, partitions)), {
      maxLength: records,
      size: 'max',
    }),
  );
  return fc.tuple(...logs);
}

function playersOf(partition: number, partitions: number): string[] {
  return PLAYER_IDS.filter((_, index) => index % partitions === partition);
}

function recordArbitrary(
  definitions: readonly BoardDefinition[],
  players: readonly string[],
): fc.Arbitrary<LogRecord> {
  const gap = fc.constantFrom(0, 0, 0, 0, 1, 3);
  const events = definitions.map((definition, board) => ({
    weight: 8,
    arbitrary: fc
      .tuple(gap, eventArbitrary(definition, players))
      .map(([before, event]) => ({ gap: before, kind: 'event', board, event }) as const),
  }));
  return fc.oneof(...events, {
    weight: 1,
    arbitrary: fc.record({
      gap,
      kind: fc.constant('deadLetter' as const),
      code: fc.constantFrom('INVALID_JSON', 'UNKNOWN_BOARD'),
      detail: fc.constantFrom('', 'two\nlines', 'é "quoted"\t, with a tab'),
    }),
  });
}
