import fc from 'fast-check';
import {
  closeOf,
  LATE,
  ORDERS,
  RANK_CHANGES,
  RANKS,
  TIES,
  UPDATES,
  windowName,
  type BoardDefinition,
  type Column,
  type Publish,
  type Season,
  type Window,
} from '#board';
import { BASE_TIME } from './arbitrary.js';

/** Random definitions of boards. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NEVER = [undefined, undefined, undefined, undefined];

/**
 * Zones whose clocks change by whole or half hours away from midnight, or not at all: in these, the
 * model relies on luxon.
 */
const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'];

/** Every interval of the model starts at 12:30 local time: no zone changes its clock then. */
export const DAILY = { cron: '30 12 * * *', hour: 12, minute: 30 } as const;

export function definitionArbitrary(board: string): fc.Arbitrary<BoardDefinition> {
  return fc
    .record({
      columns: columnsArbitrary,
      ties: fc.constantFrom(...TIES),
      timeZone: fc.constantFrom(...ZONES),
      windows: windowsArbitrary,
      late: fc.constantFrom(...LATE),
      dimensions: dimensionsArbitrary,
      maxViews: fc.oneof(
        { weight: 3, arbitrary: fc.constant(10_000) },
        fc.integer({ min: 1, max: 9 }),
      ),
      maxAheadMs: fc.constantFrom(400 * DAY, 400 * DAY, HOUR),
      deduplicateMs: fc.constantFrom(undefined, undefined, 3, 3, HOUR, 24 * HOUR),
      notAfter: fc.constantFrom(...NEVER, BASE_TIME + 3, BASE_TIME + 2 * DAY),
    })
    .chain((fields) => {
      const { deduplicateMs, notAfter, ...rest } = fields;
      return publishArbitrary(fields).map((publish) => ({
        board,
        ...rest,
        ...(deduplicateMs === undefined ? {} : { deduplicateMs }),
        ...(notAfter === undefined ? {} : { notAfter }),
        publish,
      }));
    });
}

const dimensionsArbitrary = fc.constantFrom<string[][]>(
  ...Array<string[][]>(5).fill([[]]),
  [[], ['region']],
  [['mode', 'region'], ['region']],
  [[], ['mode'], ['guild', 'region']],
  [['guild']],
);

const columnsArbitrary = fc
  .tuple(fc.constantFrom(0, 0, 1, 2, 3, 15), fc.boolean())
  .chain(([decimals, same]) =>
    fc.oneof(
      { weight: 2, arbitrary: columnList(decimals, same, 1) },
      { weight: 4, arbitrary: columnList(decimals, same, 3) },
      { weight: 1, arbitrary: columnList(decimals, same, 8) },
    ),
  );

function columnList(decimals: number, same: boolean, most: number): fc.Arbitrary<Column[]> {
  return fc
    .array(columnArbitrary(same ? fc.constant(decimals) : fc.constantFrom(0, 0, 1, 2, 3, 4, 15)), {
      minLength: 1,
      maxLength: most,
    })
    .map((columns) => columns.map((column, index) => ({ name: `c${index}`, ...column })));
}

const weightArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 2, 5, -1, -3) },
  { weight: 1, arbitrary: fc.constantFrom(999_999_999_999_999, -(2 ** 40)) },
);

function columnArbitrary(decimals: fc.Arbitrary<number>): fc.Arbitrary<Omit<Column, 'name'>> {
  // The bounds always include 0: a board that accepts few events would test little.
  const min = fc.option(fc.constantFrom(-300, -2, -1, 0), { freq: 3, nil: undefined });
  const max = fc.option(fc.constantFrom(0, 1, 2, 300), { freq: 3, nil: undefined });
  // c0 is also the name of the first column, so one input can feed two columns.
  const weights = fc.dictionary(fc.constantFrom('kills', 'assists', 'c0'), weightArbitrary, {
    minKeys: 1,
    maxKeys: 3,
  });
  return fc
    .record({
      update: fc.constantFrom(...UPDATES, 'sum' as const),
      order: fc.constantFrom(...ORDERS),
      decimals,
      min,
      max,
      bounded: fc.constantFrom(false, false, false, true),
      from: fc.option(weights, { freq: 3, nil: undefined }),
    })
    .map(({ min: least, max: most, bounded, from, ...column }) => ({
      ...column,
      ...(bounded && least !== undefined ? { min: least } : {}),
      ...(bounded && most !== undefined ? { max: most } : {}),
      ...(from === undefined || column.update !== 'sum' ? {} : { from: { ...from } }),
    }));
}

const keepArbitrary = fc.constantFrom(undefined, undefined, 1, HOUR, 2 * DAY, 30 * DAY);

const closeArbitrary = fc.option(
  fc.record({
    from: fc.constantFrom(0, 0, BASE_TIME, BASE_TIME + 15 * HOUR, BASE_TIME + 3 * DAY),
    graceMs: fc.constantFrom(0, 1, HOUR, 2 * DAY),
    reviewMs: fc.constant('manual' as const),
    results: fc.constant(100),
  }),
  { freq: 2, nil: undefined },
);

type Ending = Pick<Season, 'keepMs' | 'close'>;

/** With a `keep` that is long enough for a boards file. */
function withEnding<T extends object>(
  window: T,
  { keepMs, close }: { readonly [F in keyof Ending]: Ending[F] | undefined },
): T & Ending {
  const least = close === undefined ? 0 : close.graceMs + DAY;
  return {
    ...window,
    ...(keepMs === undefined ? {} : { keepMs: Math.max(keepMs, least) }),
    ...(close === undefined ? {} : { close }),
  };
}

function ending<T extends object>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T & Ending> {
  const endings = fc.record({ keepMs: keepArbitrary, close: closeArbitrary });
  return fc.tuple(arbitrary, endings).map(([window, end]) => withEnding(window, end));
}

const edgeArbitrary = fc.constantFrom(-3 * DAY, -2 * HOUR, 2, 4, 5 * HOUR, 2 * DAY);
const namedArbitrary: fc.Arbitrary<Window> = fc.oneof(
  ending(
    fc.tuple(fc.constantFrom('s1', 's2'), edgeArbitrary, edgeArbitrary).map(([name, a, b]) => ({
      kind: 'season' as const,
      name,
      from: BASE_TIME + Math.min(a, b),
      to: BASE_TIME + Math.max(a, b) + 1,
    })),
  ),
  ending(
    edgeArbitrary.map((edge) => ({
      kind: 'interval' as const,
      name: 'contest',
      cron: DAILY.cron,
      start: BASE_TIME + edge,
    })),
  ),
);
const calendarArbitrary: fc.Arbitrary<Window> = ending(
  fc.constantFrom('day', 'day', 'week', 'month', 'year').map((kind) => ({ kind }) as const),
);

const windowsArbitrary: fc.Arbitrary<Window[]> = fc.oneof(
  fc.constant<Window[]>([{ kind: 'all' }]),
  fc.uniqueArray(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant({ kind: 'all' } as const) },
      { weight: 3, arbitrary: calendarArbitrary },
      { weight: 1, arbitrary: namedArbitrary },
    ),
    { minLength: 1, maxLength: 4, selector: windowName },
  ),
);

function publishArbitrary({
  windows,
  dimensions,
}: Pick<BoardDefinition, 'windows' | 'dimensions'>): fc.Arbitrary<Publish> {
  const some = <T>(all: readonly T[]) =>
    fc.option(fc.subarray([...all], { minLength: 1 }), { freq: 3, nil: undefined });
  return fc
    .record({
      rankChanges: fc.constantFrom('every' as const, 'every' as const, ...RANK_CHANGES),
      ranks: fc.constantFrom<Publish['ranks'][]>(['ordinal'], RANKS),
      windows: some(windows.map(windowName)),
      dimensions: some(dimensions),
      overtook: fc.constantFrom(0, 1, 2, 100),
      leaders: fc.constantFrom(0, 1, 2, 3, 100),
    })
    .map(({ windows: shown, dimensions: combinations, ...rest }) => ({
      ...rest,
      ...(shown === undefined ? {} : { windows: shown }),
      ...(combinations === undefined ? {} : { dimensions: combinations }),
    }));
}

/**
 * A definition, and one or two variants that accept most of the same events: with fields of another
 * random definition, with the order of all columns reversed, or with the update `latest`.
 */
export function variantsArbitrary(board: string): fc.Arbitrary<BoardDefinition[]> {
  const definition = definitionArbitrary(board);
  const some = fc.subarray([...changes], { minLength: 1, maxLength: 3 });
  return fc
    .tuple(definition, fc.array(fc.tuple(definition, some), { minLength: 1, maxLength: 2 }))
    .map(([first, others]) => [
      first,
      ...others.map(([other, made]) =>
        made.reduce((result, change) => ({ ...result, ...change(other, result) }), first),
      ),
    ]);
}

/** The own windows, closing as windows of another board do. */
function closingLike(other: readonly Window[], own: readonly Window[]): Window[] {
  const closes = other.flatMap((window) => closeOf(window) ?? []);
  return own.map((window, index): Window => {
    const close = closes[index % Math.max(1, closes.length)];
    return window.kind === 'all' || close === undefined
      ? window
      : withEnding(window, { ...window, close });
  });
}

const changes: readonly ((
  other: BoardDefinition,
  own: BoardDefinition,
) => Partial<BoardDefinition>)[] = [
  ({ ties }) => ({ ties }),
  (_, { columns }) => ({
    columns: columns.map((column) => ({
      ...column,
      order: column.order === 'asc' ? 'desc' : 'asc',
    })),
  }),
  (_, { columns }) => ({
    columns: columns.map((column) => (column.from ? column : { ...column, update: 'latest' })),
  }),
  ({ windows, dimensions, timeZone, late, publish }) => {
    return { windows, dimensions, timeZone, late, publish };
  },
  ({ publish: { leaders, overtook, rankChanges, ranks } }, { publish }) => {
    return { publish: { ...publish, leaders, overtook, rankChanges, ranks } };
  },
  ({ windows }, own) => ({ windows: closingLike(windows, own.windows) }),
  ({ maxViews, deduplicateMs }) => ({ maxViews, ...(deduplicateMs && { deduplicateMs }) }),
];
