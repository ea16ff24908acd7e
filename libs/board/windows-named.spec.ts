import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { arena } from '../../test/support/arena.js';
import type { BoardDefinition, Window } from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './time.js';
import { parseWindow, windowsAt } from './windows.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

function board(windows: readonly Window[], timeZone = 'UTC'): BoardDefinition {
  return { ...arena, windows, timeZone };
}

const anyTime = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -20, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: EARLIEST_TIME, max: LATEST_TIME }) },
);
const keep = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined });
const close = fc.option(
  fc.record({
    from: anyTime,
    graceMs: fc.integer({ min: 0, max: 100 }),
    reviewMs: fc.constant('manual' as const),
    results: fc.constant(100),
  }),
  { nil: undefined },
);

describe('windows by name', () => {
  it('can be seasons, which contain their start, not their end, expire `keep` after it, and close `grace` after it', () => {
    const season = fc
      .tuple(anyTime, anyTime, keep, close)
      .map(([a, b, keepMs, closing]): Extract<Window, { kind: 'season' }> => ({
        kind: 'season',
        name: 'spring',
        from: Math.min(a, b),
        to: Math.max(a, b) + 1,
        ...(keepMs === undefined ? {} : { keepMs }),
        ...(closing === undefined ? {} : { close: closing }),
      }));
    fc.assert(
      fc.property(fc.array(season, { minLength: 1, maxLength: 4 }), anyTime, (seasons, time) => {
        const named = seasons.map((one, index) => ({ ...one, name: `s${index}` }));
        const definition = board([{ kind: 'all' }, ...named]);
        const expected = named.map(({ name, from, to, keepMs, close: closing }) =>
          from <= time && time < to
            ? {
                text: `season:${name}`,
                start: from,
                end: to,
                expiresAt: keepMs === undefined ? null : to + keepMs,
                closesAt: closing === undefined || to < closing.from ? null : to + closing.graceMs,
              }
            : undefined,
        );
        const never = { expiresAt: null, closesAt: null };
        const all = { text: 'all', start: EARLIEST_TIME, end: LATEST_TIME + 1, ...never };
        expect(windowsAt(definition, time)).toEqual([all, ...expected]);
        for (const { name, from } of named)
          expect(parseWindow(definition, `season:${name}`)?.start).toBe(from);
      }),
    );
  });

  it('are found independently of the time before', () => {
    const [from, to] = [Date.UTC(2026, 2, 1, 6), Date.UTC(2026, 2, 8, 6)];
    const definition = board([
      { kind: 'day' },
      { kind: 'season', name: 'spring', from, to },
      { kind: 'interval', name: 'noon', cron: '0 12 * * *', start: from + DAY },
    ]);
    const edges = [from, from + 0.75 * DAY, from + DAY, from + 1.25 * DAY, to].flatMap((edge) => [
      edge - 1,
      edge,
    ]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...edges)), (times) => {
        for (const time of times)
          expect(windowsAt(definition, time)).toEqual(windowsAt({ ...definition }, time));
      }),
    );
  });
});

/**
 * Expressions, each with a function that says which local minutes (Dates as if in UTC) it matches.
 */
const EXPRESSIONS: readonly (readonly [cron: string, names: (face: Date) => boolean])[] = [
  ['0 18 * * 5', (face) => face.getUTCDay() === 5 && minuteOfDay(face) === 18 * 60],
  ['30 2 * * *', (face) => minuteOfDay(face) === 150],
  ['15 2 * * *', (face) => minuteOfDay(face) === 135],
  ['0 0 * * *', (face) => minuteOfDay(face) === 0],
  ['5 0,23 * * *', (face) => [5, 23 * 60 + 5].includes(minuteOfDay(face))],
  ['*/15 * * * *', (face) => face.getUTCMinutes() % 15 === 0],
  ['0 */6 * * *', (face) => minuteOfDay(face) % 360 === 0],
  ['0 0 */2 * *', (face) => face.getUTCDate() % 2 === 1 && minuteOfDay(face) === 0],
  ['0 45 12 * * 1', (face) => face.getUTCDay() === 1 && minuteOfDay(face) === 12 * 60 + 45],
];

function minuteOfDay(face: Date): number {
  return face.getUTCHours() * 60 + face.getUTCMinutes();
}

/** Instants at which clocks change, and one in each of two zones without changes. */
// prettier-ignore
const CHANGES: readonly (readonly [zone: string, change: string])[] = [
  ['UTC', '2026-03-01T00:00:00Z'], ['Asia/Kathmandu', '2026-03-01T00:00:00Z'],
  ['Europe/Paris', '2026-03-29T01:00:00Z'], ['Europe/Paris', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-03-08T07:00:00Z'], ['America/New_York', '2026-11-01T06:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'], ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
  ['America/Havana', '2026-03-08T05:00:00Z'], ['America/Havana', '2026-11-01T05:00:00Z'],
  ['America/St_Johns', '2010-03-14T03:31:00Z'], ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'], ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'], ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
];

const interval = fc.record({
  expression: fc.constantFrom(...EXPRESSIONS),
  change: fc.constantFrom(...CHANGES),
  /** From the clock change to the interval's start, in ms. */
  lead: fc.integer({ min: -6 * DAY, max: DAY / 8 }),
  keepMs: keep,
  /**
   * Times to look up, in ms from the clock change, in this order: the cache must not change what is
   * found.
   */
  distances: fc.array(
    fc.oneof(
      fc.integer({ min: -8 * DAY, max: 2 * DAY }),
      fc.integer({ min: -14, max: 14 }).map((quarters) => quarters * 15 * MINUTE),
    ),
    { minLength: 1, maxLength: 12 },
  ),
});

function definitionOf(cron: string, zone: string, rest: { start: number; keepMs?: number }) {
  return board([{ kind: 'interval', name: 'contest', cron, ...rest }], zone);
}

describe('intervals', () => {
  it('last from when the clock first shows or passes a time of the expression to the next such moment', () => {
    fc.assert(
      fc.property(interval, ({ expression: [cron, names], change: [zone, at], lead, ...rest }) => {
        const start = Date.parse(at) + lead;
        const kept = rest.keepMs === undefined ? {} : { keepMs: rest.keepMs };
        const definition = definitionOf(cron, zone, { start, ...kept });
        const moments = momentsOf(names, zone, { start, end: Date.parse(at) + 10 * DAY });
        for (const time of rest.distances.map((distance) => Date.parse(at) + distance)) {
          const index = moments.findLastIndex((moment) => moment <= time);
          const [from, to = NaN] = [moments[index], moments[index + 1]];
          const [found] = windowsAt(definition, time);
          if (from === undefined) expect(found).toBeUndefined();
          else {
            const text = `interval:contest@${new Date(from).toISOString().replace('.000Z', 'Z')}`;
            const expiresAt = rest.keepMs === undefined ? null : to + rest.keepMs;
            expect(found).toEqual({ text, start: from, end: to, expiresAt, closesAt: null });
            expect(parseWindow(definition, text)).toEqual(found);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['2026-03-29T00:30:00Z', '2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z'],
    ['2026-10-25T01:30:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ])('that begin at 02:30 in Paris: the one at %s lasts from %s to %s', (time, start, end) => {
    const rest = { start: Date.UTC(2026, 0, 1) };
    const [found] = windowsAt(definitionOf('30 2 * * *', 'Europe/Paris', rest), Date.parse(time));
    expect([found!.start, found!.end]).toEqual([Date.parse(start), Date.parse(end)]);
  });

  it('can be years long, and the last one ends with year 9999', () => {
    const leap = definitionOf('0 0 29 2 *', 'Europe/Paris', { start: EARLIEST_TIME });
    const [found] = windowsAt(leap, Date.UTC(2026, 10, 20));
    expect(found!.text).toBe('interval:contest@2024-02-28T23:00:00Z');
    expect(new Date(found!.end).toISOString()).toBe('2028-02-28T23:00:00.000Z');
    expect(windowsAt(leap, LATEST_TIME)[0]!.end).toBe(LATEST_TIME + 1);
    expect(windowsAt(leap, EARLIEST_TIME)).toEqual([undefined]);
  });

  // Evaluating the expression takes about 10 ms: without a cache, these events would block ingest.
  it.each([
    ['before the start', Date.UTC(2020, 0, 1)],
    ['before the first time after the start', Date.UTC(2026, 0, 1)],
  ])('are missing %s, and the cache remembers it', (_when, begin) => {
    const definition = definitionOf('0 0 29 2 *', 'Europe/Paris', { start: Date.UTC(2025, 0, 1) });
    const before = performance.now();
    for (let event = 0; event < 2_000; event++)
      expect(windowsAt(definition, begin + event * MINUTE)).toEqual([undefined]);
    expect(performance.now() - before).toBeLessThan(4_000);
  });

  it('are not found by texts of times before the start or between two starts, or in another form', () => {
    const definition = definitionOf('0 18 * * 5', 'UTC', { start: Date.UTC(2026, 10, 20) });
    // prettier-ignore
    const names = [
      'interval:contest@2026-11-13T18:00:00Z', 'interval:contest@2026-11-21T18:00:00Z', 'interval:other@2026-11-20T18:00:00Z',
      'interval:contest@2026-11-20T18:00:00.000Z', 'interval:contest@2026-11-20T18:00Z', 'interval:contest', 'interval:contest@', 'day:2026-11-20',
    ];
    expect(names.filter((name) => parseWindow(definition, name))).toEqual([]);
    expect(parseWindow(definition, 'interval:contest@2026-11-20T18:00:00Z')).toBeDefined();
  });
});

/** Reads the clock every minute: when does it first show, or skip, a time that matches? */
function momentsOf(
  names: (face: Date) => boolean,
  zone: string,
  { start, end }: { start: number; end: number },
): number[] {
  const moments: number[] = [];
  // Reads from two days before the start, to know which times the clock has shown already.
  const begin = Math.floor(start / DAY) * DAY - 2 * DAY;
  let shown = begin + offsetAt(zone, begin);
  for (let time = begin; time < end; time += MINUTE) {
    const face = time + offsetAt(zone, time);
    let named = false;
    for (; shown < face; shown += MINUTE) named ||= names(new Date(shown + MINUTE));
    if (named && time >= start) moments.push(time);
  }
  return moments;
}

/** The offset from UTC in ms. Cached per half hour, except where the clock changes within it. */
function offsetAt(zone: string, time: number): number {
  const half = Math.floor(time / (30 * MINUTE)) * 30 * MINUTE;
  const offset = rememberedOffset(zone, half);
  return rememberedOffset(zone, half + 29 * MINUTE) === offset ? offset : lookUp(zone, time);
}

const offsets = new Map<string, number>();
function rememberedOffset(zone: string, time: number): number {
  const key = `${zone} ${time}`;
  let offset = offsets.get(key);
  if (offset === undefined) offsets.set(key, (offset = lookUp(zone, time)));
  return offset;
}

function lookUp(zone: string, time: number): number {
  return Math.round(IANAZone.create(zone).offset(time) * MINUTE);
}
