import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DateTime, IANAZone } from 'luxon';
import { arena } from '../../test/support/arena.js';
import type { BoardDefinition, CalendarWindow, Window } from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './time.js';
import { parseWindow, windowsAt, type WindowInstance } from './windows.js';

const DAY = 86_400_000;
const STEP = DAY / 2;

/**
 * Zones, most with unusual days: skipped or doubled midnights, skipped days, half hours, clock
 * changes just after midnight.
 */
// prettier-ignore
const ZONES = [
  'UTC', 'Europe/Paris', 'America/New_York', 'America/Sao_Paulo', 'America/Havana', 'America/St_Johns', 'Asia/Beirut',
  'Asia/Tehran', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia', 'Pacific/Kiritimati', 'Africa/Casablanca',
  'Africa/Monrovia', 'Antarctica/Troll', 'America/Juneau', 'Asia/Manila',
] as const;

function board(windows: readonly Window[], timeZone: string): BoardDefinition {
  return { ...arena, windows, timeZone };
}

const CALENDAR: readonly CalendarWindow[] = ['day', 'week', 'month', 'year'];
const calendars = new Map(
  ZONES.map((zone) => [
    zone as string,
    board(
      CALENDAR.map((kind) => ({ kind })),
      zone,
    ),
  ]),
);

function calendarAt(zone: string, time: number): WindowInstance[] {
  return windowsAt(calendars.get(zone)!, time) as WindowInstance[];
}

/** Offset from UTC in ms. */
function offsetAt(zone: string, time: number): number {
  return Math.round(IANAZone.create(zone).offset(time) * 60_000);
}

/**
 * The parts of [from, to) with a constant offset each. Clock changes are further apart than STEP.
 */
function stretches(zone: string, from: number, to: number) {
  const found = [{ from, offset: offsetAt(zone, from) }];
  for (let at = from; at < to; at += STEP) {
    let [low, high] = [at, Math.min(at + STEP, to)];
    if (offsetAt(zone, high) === found.at(-1)!.offset) continue;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(zone, middle) === found.at(-1)!.offset) low = middle;
      else high = middle;
    }
    found.push({ from: high, offset: offsetAt(zone, high) });
  }
  return found.map((stretch, index) => ({ ...stretch, to: found[index + 1]?.from ?? to }));
}

/**
 * The first instant at which the zone's calendar shows a date or a later one. Dates count days from
 * 1970-01-01.
 */
function firstInstantOf(zone: string, date: number): number {
  for (const { from, to, offset } of stretches(zone, (date - 3) * DAY, (date + 3) * DAY)) {
    const at = Math.max(from, date * DAY - offset);
    if (at < to) return at;
  }
  throw new Error(`${zone} never comes to day ${date}`);
}

/**
 * The latest date that has begun: the date on the calendar, except where the clock goes back over
 * midnight.
 */
function dateAt(zone: string, time: number): number {
  const shown = Math.floor((time + offsetAt(zone, time)) / DAY);
  const begun = [shown + 2, shown + 1].find((date) => firstInstantOf(zone, date) <= time);
  return begun ?? shown;
}

function dayOf(date: DateTime): number {
  return Math.floor(date.toMillis() / DAY);
}

/**
 * An instance, from the first instant of its first date to that of the first date after it. Slow.
 */
function plainInstance(kind: CalendarWindow, zone: string, time: number): WindowInstance {
  const date = DateTime.fromMillis(dateAt(zone, time) * DAY, { zone: 'utc' });
  const first = date.startOf(kind);
  return {
    text: `${kind}:${calendarText(kind, date)}`,
    start: Math.max(firstInstantOf(zone, dayOf(first)), EARLIEST_TIME),
    end: Math.min(firstInstantOf(zone, dayOf(first.plus({ [`${kind}s`]: 1 }))), LATEST_TIME + 1),
    expiresAt: null,
    closesAt: null,
  };
}

function calendarText(kind: CalendarWindow, date: DateTime): string {
  const year = (value: number) => String(value).padStart(4, '0');
  const two = (value: number) => String(value).padStart(2, '0');
  switch (kind) {
    case 'day':
      return `${year(date.year)}-${two(date.month)}-${two(date.day)}`;
    case 'week':
      return `${year(date.weekYear)}-W${two(date.weekNumber)}`;
    case 'month':
      return `${year(date.year)}-${two(date.month)}`;
    case 'year':
      return year(date.year);
  }
}

/** Clock changes of a zone in the years that most events have. */
const changesOf = new Map<string, number[]>();
function clockChanges(zone: string): number[] {
  let changes = changesOf.get(zone);
  if (changes === undefined) {
    changes = [];
    const [from, to] = [Date.UTC(1985, 0, 1), Date.UTC(2036, 0, 1)];
    for (let at = from; at < to; at += 10 * DAY)
      if (offsetAt(zone, at) !== offsetAt(zone, at + 10 * DAY))
        changes.push(
          ...stretches(zone, at, at + 10 * DAY)
            .slice(1)
            .map((stretch) => stretch.from),
        );
    changesOf.set(zone, changes);
  }
  return changes;
}

/** Instants that some library got wrong. */
// prettier-ignore
const KNOWN: readonly (readonly [zone: string, time: string])[] = [
  ['Pacific/Apia', '2011-12-30T09:59:59.999Z'], ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Pacific/Kiritimati', '1994-12-31T09:59:59.999Z'], ['Pacific/Kiritimati', '1995-01-01T00:00:00Z'],
  ['America/St_Johns', '2009-11-01T02:31:00Z'], ['America/St_Johns', '2009-11-01T03:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:30:30Z'], ['America/St_Johns', '2010-11-07T03:10:00Z'],
  ['America/Juneau', '1867-10-19T00:00:00Z'], ['Asia/Manila', '1844-12-31T12:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'], ['America/Havana', '2026-11-01T04:30:00Z'],
  ['UTC', '2026-12-31T12:00:00Z'], ['UTC', '2027-01-01T12:00:00Z'], ['UTC', '0001-01-01T00:00:00Z'],
  ['Pacific/Apia', '9999-12-31T23:59:59.999Z'], ['America/New_York', '0001-01-01T00:00:00Z'],
];

const zoneAndTime = fc.oneof(
  fc.constantFrom(...KNOWN).map(([zone, time]) => [zone, Date.parse(time)] as const),
  fc.constantFrom<string>(...ZONES).chain((zone) =>
    fc.tuple(
      fc.constant(zone),
      fc.oneof(
        { weight: 2, arbitrary: fc.integer({ min: EARLIEST_TIME, max: LATEST_TIME }) },
        {
          weight: 4,
          arbitrary: fc.integer({ min: Date.UTC(1985, 0, 1), max: Date.UTC(2036, 0, 1) }),
        },
        { weight: 8, arbitrary: nearChange(zone) },
        { weight: 2, arbitrary: nearNewYear },
      ),
    ),
  ),
);

const nearNewYear = fc
  .tuple(fc.integer({ min: 1970, max: 2100 }), fc.integer({ min: -4 * DAY, max: 4 * DAY }))
  .map(([year, distance]) => Date.UTC(year, 0, 1) + distance);

function nearChange(zone: string): fc.Arbitrary<number> {
  const changes = clockChanges(zone);
  return fc
    .tuple(
      fc.constantFrom(...(changes.length === 0 ? [Date.UTC(2026, 2, 29, 1)] : changes)),
      fc.oneof(
        fc.constantFrom(-1, 0, 1),
        fc.integer({ min: -7_200_000, max: 7_200_000 }),
        fc.integer({ min: -2 * DAY, max: 2 * DAY }),
      ),
    )
    .map(([change, distance]) => change + distance);
}

describe('calendar windows', () => {
  it('equal the windows of luxon, in any zone', () => {
    let compared = 0;
    fc.assert(
      fc.property(zoneAndTime, ([zone, time]) => {
        const date = DateTime.fromMillis(time, { zone });
        for (const [index, kind] of CALENDAR.entries()) {
          const from = date.startOf(kind);
          const to = from.plus({ [`${kind}s`]: 1 }).startOf(kind);
          // luxon is not exact where the clock changes at the edge of a day; plainInstance covers
          // such days.
          if ([from, to].some((edge) => changesAround(zone, edge.toMillis()))) continue;
          if (date.year < 2 || date.year > 9998 || dateAt(zone, time) !== localDate(date)) continue;
          compared++;
          expect(calendarAt(zone, time)[index]).toEqual({
            text: `${kind}:${calendarText(kind, date)}`,
            start: from.toMillis(),
            end: to.toMillis(),
            expiresAt: null,
            closesAt: null,
          });
        }
      }),
      { numRuns: 200 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  it('last from the first instant of a date to that of the next, in any zone', () => {
    fc.assert(
      fc.property(zoneAndTime, ([zone, time]) => {
        expect(calendarAt(zone, time)).toEqual(
          CALENDAR.map((kind) => plainInstance(kind, zone, time)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('have no gaps or overlaps', () => {
    fc.assert(
      fc.property(zoneAndTime, ([zone, time]) => {
        for (const [index, instance] of calendarAt(zone, time).entries()) {
          expect(instance.start).toBeLessThanOrEqual(time);
          expect(instance.end).toBeGreaterThan(time);
          for (const edge of [instance.start, instance.end - 1])
            expect(calendarAt(zone, edge)[index]).toEqual(instance);
          if (instance.end <= LATEST_TIME)
            expect(calendarAt(zone, instance.end)[index]!.start).toBe(instance.end);
          if (instance.start > EARLIEST_TIME)
            expect(calendarAt(zone, instance.start - 1)[index]!.end).toBe(instance.start);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are found by their text', () => {
    fc.assert(
      fc.property(zoneAndTime, ([zone, time]) => {
        for (const instance of calendarAt(zone, time))
          expect(parseWindow(calendars.get(zone)!, instance.text)).toEqual(instance);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['Europe/Paris', '2026-03-29', 23],
    ['Europe/Paris', '2026-10-25', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['America/Sao_Paulo', '2018-11-04', 23],
    ['America/Havana', '2026-11-01', 25],
    ['Europe/Paris', '2026-11-20', 24],
    // This day begins at 00:00 and, a minute later, the clock goes back to 23:01 of the day before.
    ['America/St_Johns', '2010-11-07', 25],
    ['America/St_Johns', '2010-11-06', 24],
    ['Pacific/Apia', '2011-12-29', 24],
    ['Pacific/Apia', '2011-12-31', 24],
  ])('in %s day %s has %d hours', (zone, date, hours) => {
    const found = parseWindow(calendars.get(zone)!, `day:${date}`)!;
    expect((found.end - found.start) / 3_600_000).toBe(hours);
  });

  it('are not found by texts of dates that do not exist, or in another form', () => {
    // prettier-ignore
    const names = [
      'day:2011-12-30', 'day:2026-02-29', 'day:2026-13-01', 'week:2026-W54', 'week:2027-W53', 'week:2026-W00', 'week:2026-W1', 'month:2026-00',
      'month:2026-13', 'year:26', 'year:02026', 'day:2026-1-1', 'day:2026-01-01T00:00', 'day:+002026-01-01', 'day:', 'week:2026', 'month:2026-11-20', 'Day:2026-11-20', 'all',
    ];
    const found = names.filter((name) => parseWindow(calendars.get('Pacific/Apia')!, name));
    expect(found).toEqual([]);
  });

  it.each([
    ['2026-12-31T12:00:00Z', 'week:2026-W53'],
    ['2027-01-01T12:00:00Z', 'week:2026-W53'],
    ['2027-01-04T00:00:00Z', 'week:2027-W01'],
    ['2024-12-30T00:00:00Z', 'week:2025-W01'],
    ['2021-01-03T23:59:59Z', 'week:2020-W53'],
  ])('%s is in %s', (time, week) => {
    expect(calendarAt('UTC', Date.parse(time))[1]!.text).toBe(week);
  });
});

function changesAround(zone: string, time: number): boolean {
  return stretches(zone, time - 1.5 * DAY, time + 1.5 * DAY).length > 1;
}

function localDate(date: DateTime): number {
  return Math.floor(Date.UTC(date.year, date.month - 1, date.day) / DAY);
}
