import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { BASE_TIME, PLAYER_IDS, valuesArbitrary } from './arbitrary.js';
import { inputArbitrary } from './inputs.js';
import type { OracleRecord } from './oracle-memory.js';
import type { SentEvent } from './oracle-resolve.js';

/** Random logs: events, records that are no event, and offsets of control records between them. */

/** One record of a random log. `gap` is how many offsets (of control records) come before it. */
export type SentRecord = { readonly gap: number } & (
  | { readonly kind: 'event'; readonly board: number; readonly sent: SentEvent }
  | { readonly kind: 'player'; readonly board: number; readonly sent: SentPlayerRecord }
  | { readonly kind: 'deadLetter'; readonly code: string; readonly detail: string }
);

/** A ban, unban or erasure; its record has the same time. */
export type SentPlayerRecord = Pick<OracleRecord, 'kind' | 'playerId' | 'time'>;

/** How many records a partition has at most. */
export const RECORDS = 18;
/** How many players a partition has at most: few, so that most have several events. */
const PLAYERS = 5;
const HOUR = 3_600_000;

interface LogShape {
  readonly partitions: number;
  /** Whether all events of a player are in one partition. */
  readonly keyed: boolean;
}

/** A log for each partition, with events for the boards of these definitions. */
export function logsArbitrary(
  definitions: readonly BoardDefinition[],
  { partitions, keyed }: LogShape,
): fc.Arbitrary<(readonly SentRecord[])[]> {
  const logs = Array.from({ length: partitions }, (_, partition) => {
    const own = PLAYER_IDS.filter((_id, index) => index % partitions === partition);
    const players = keyed ? own : PLAYER_IDS;
    return valuesArbitrary
      .chain((values) =>
        fc.array(draftArbitrary(definitions, players.slice(0, PLAYERS), values), {
          maxLength: RECORDS,
          size: 'max',
        }),
      )
      .map(recordsOf);
  });
  return fc.tuple(...logs);
}

type Draft = ReturnType<typeof draftArbitrary> extends fc.Arbitrary<infer D> ? D : never;

function draftArbitrary(
  definitions: readonly BoardDefinition[],
  players: readonly string[],
  values: fc.Arbitrary<number>,
) {
  const gap = fc.constantFrom(0, 0, 0, 0, 1, 3);
  const events = definitions.map((definition, board) => ({
    weight: 16,
    arbitrary: fc.record({
      gap,
      kind: fc.constant('event'),
      board: fc.constant(board),
      sent: inputArbitrary(definition, players, values),
    }),
  }));
  /** Repeats the event `back` events earlier, with its time moved by `laterMs`. */
  const repeat = fc.record({
    gap,
    kind: fc.constant('repeat'),
    back: fc.integer({ min: 1, max: 4 }),
    laterMs: fc.constantFrom(0, 0, 1, 2, -1, -2, 3, HOUR, -HOUR, 24 * HOUR),
  });
  /** Few times, so that the order of a player's records is often not that of the log. */
  const playerRecord = fc.record({
    gap,
    kind: fc.constant('player'),
    board: fc.nat({ max: definitions.length - 1 }),
    sent: fc.record({
      kind: fc.constantFrom('banned', 'banned', 'unbanned', 'unbanned', 'erased'),
      playerId: fc.constantFrom(...players),
      time: fc.integer({ min: BASE_TIME, max: BASE_TIME + 6 }),
    }),
  });
  const deadLetter = fc.record({
    gap,
    kind: fc.constant('deadLetter'),
    code: fc.constantFrom('INVALID_JSON', 'UNKNOWN_BOARD'),
    detail: fc.constantFrom('', 'two\nlines', 'é "quoted"\t, with a tab'),
  });
  return fc.oneof(
    ...events,
    { weight: 3, arbitrary: repeat },
    { weight: 4 * definitions.length, arbitrary: playerRecord },
    { weight: 1, arbitrary: deadLetter },
  );
}

/** Turns drafts into records. Leaves out a repeat that goes back beyond the first event. */
function recordsOf(drafts: readonly Draft[]): readonly SentRecord[] {
  const sent: Extract<SentRecord, { kind: 'event' }>[] = [];
  return drafts.flatMap((draft): SentRecord[] => {
    if (draft.kind === 'deadLetter' || draft.kind === 'player') return [draft];
    const event = draft.kind === 'event' ? draft : sent.at(-draft.back);
    if (event === undefined) return [];
    const laterMs = draft.kind === 'event' ? 0 : draft.laterMs;
    sent.push({ ...event, gap: draft.gap, sent: laterBy(laterMs, event.sent) });
    return sent.slice(-1);
  });
}

function laterBy(ms: number, { input, timestamp }: SentEvent): SentEvent {
  if (ms === 0) return { input, timestamp };
  const occurredAt = (input.occurredAt ?? timestamp) + ms;
  return { timestamp: timestamp + ms, input: { ...input, occurredAt } };
}

export type PlacedRecord = SentRecord & { readonly partition: number; readonly offset: number };

/** The records of a partition with their places. */
export function placed(log: readonly SentRecord[], partition: number): readonly PlacedRecord[] {
  let offset = -1;
  return log.map((record) => {
    offset += record.gap + 1;
    return { ...record, partition, offset };
  });
}
