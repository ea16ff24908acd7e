import { describe, expect, it } from '@jest/globals';
import type { BoardDefinition, Close } from '#board';
import type { PeriodRecord } from '#contracts';
import { arena } from '../../../test/support/arena.js';
import { seededRandom } from '../../../test/support/seeded-random.js';
import {
  closedUntil,
  isDue,
  overdueMs,
  periodsOf,
  servedRecords,
  type KnownPeriods,
  type Period,
} from './periods.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FIRST = Date.UTC(2026, 2, 1);
const DAYS = 6;
const MINUTE = 60_000;
const TOLERANCE = MINUTE;
const ROUNDS = 400;

/** An instance as the oracle knows it: without the code that finds instances. */
interface Instance {
  readonly text: string;
  readonly name: 'day' | 'season:spring' | 'month';
  readonly end: number;
  readonly close: Close | undefined;
  readonly keepMs?: number;
}

function world(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit);
  const keep = () => random() < 0.5 && { keepMs: 2 * DAY };
  const closeOf = (): Close => ({
    from: FIRST + below(2) * 2 * DAY,
    graceMs: below(3) * HOUR,
    reviewMs: random() < 0.3 ? 'manual' : below(3) * HOUR,
    results: 1 + below(3),
  });
  const day = { close: closeOf(), ...keep() };
  const season = { close: closeOf(), ...keep() };
  const ends = { from: FIRST, to: FIRST + 2 * DAY };
  const definition: BoardDefinition = {
    ...arena,
    windows: [
      { kind: 'all' },
      { kind: 'day', ...day },
      { kind: 'season', name: 'spring', ...ends, ...season },
      { kind: 'month' },
    ],
  };
  const instances: Instance[] = [
    ...Array.from({ length: DAYS }, (_, index): Instance => {
      const end = FIRST + (index + 1) * DAY;
      return { text: `day:2026-03-0${index + 1}`, name: 'day', end, ...day };
    }),
    { text: 'season:spring', name: 'season:spring', end: ends.to, ...season },
    { text: 'month:2026-03', name: 'month', end: Infinity, close: undefined },
  ];
  const windows = instances.filter(() => random() < 0.7).map(({ text }) => text);
  const records = new Map<string, PeriodRecord>();
  for (const { text, close } of instances)
    if (close !== undefined && random() < 0.5) {
      const revision = below(3);
      const view = revision > 0 && random() < 0.3 ? text : null;
      records.set(text, { board: 'arena', window: text, revision, view, ends: new Map() });
    }
  const now = FIRST + below((DAYS + 2) * 24 * 60) * MINUTE + below(3) - 1;
  const clock = random() < 0.2 ? null : FIRST + below((DAYS + 5) * 24) * HOUR;
  const known: KnownPeriods = { definition, clock, windows: new Set(windows), records };
  return { known, instances, now };
}

const isOver = ({ keepMs, end }: Instance, clock: number | null) =>
  keepMs !== undefined && clock !== null && clock >= end + keepMs;
const isClosing = ({ close, end }: Instance): boolean => close !== undefined && end >= close.from;

/** The plain rules of the states; undefined: not listed. */
function expectedState(
  instance: Instance,
  known: KnownPeriods,
  instances: readonly Instance[],
  now: number,
) {
  const { text, name, end, close } = instance;
  if (close === undefined || !isClosing(instance)) return undefined;
  const { records, clock } = known;
  const record = records.get(text);
  const hasViews = new Set(known.windows).has(text);
  const isExpired = isOver(instance, clock);
  const others = instances.filter((other) => other.name === name && isClosing(other));
  const recorded = others.filter((other) => records.has(other.text));
  const isOlder = recorded.length > 0 && recorded.every((other) => other.end > end);
  if (record === undefined) {
    if (isExpired || !hasViews || isOlder) return undefined;
  } else if (record.revision === 0 && !isExpired && !hasViews) return undefined;
  const complete = record ? record.revision - (record.view === null ? 0 : 1) : 0;
  if (complete > 0) return `announced ${complete}`;
  if (isExpired) return 'missed 0';
  const closesAt = end + close.graceMs;
  if (now <= closesAt) return 'open 0';
  const isBegun = (record?.revision ?? 0) > 0;
  const isInReview = close.reviewMs === 'manual' || now < closesAt + close.reviewMs;
  return now > closesAt + TOLERANCE && isInReview && !isBegun ? 'review 0' : 'waiting 0';
}

describe('the periods of a board', () => {
  it('have the states that the plain rules give them, in the order of their ends', () => {
    const { random, seed } = seededRandom();
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const { known, instances, now } = world(random);
      const periods = periodsOf(known, now, TOLERANCE);
      const states = instances.flatMap((instance) => {
        const state = expectedState(instance, known, instances, now);
        return state === undefined ? [] : [`${instance.text} ${state}`];
      });
      const found = periods.map(({ window, state, revision }) => `${window} ${state} ${revision}`);
      expect([seed, round, [...found].sort()]).toEqual([seed, round, states.sort()]);
      const ends = periods.map(({ end }) => end);
      expect(ends).toEqual([...ends].sort((a, b) => a - b));
      for (const { state } of periods) seen.add(state);
    }
    expect([...seen].sort()).toEqual(['announced', 'missed', 'open', 'review', 'waiting']);
  });

  it('are due when they have closed and their review is over, or an announcement was interrupted', () => {
    const { random, seed } = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const { known, now } = world(random);
      for (const period of periodsOf(known, now, TOLERANCE)) {
        const { record, closesAt, reviewEndsAt, state } = period;
        const isPast = now > closesAt + TOLERANCE && reviewEndsAt !== null && now >= reviewEndsAt;
        const isUnfinished = record !== undefined && record.view !== null;
        const isWanted = state !== 'missed' && (isUnfinished || (state !== 'announced' && isPast));
        expect([seed, round, period.window, isDue(period, now)]).toEqual([
          ...[seed, round, period.window],
          isWanted,
        ]);
        const late = now - Math.max(closesAt, reviewEndsAt ?? Infinity) - TOLERANCE;
        const isOpen = state !== 'announced' && state !== 'missed';
        expect(overdueMs(period, now)).toBe(isOpen ? Math.max(0, late) : 0);
      }
    }
  });

  it('have a text that changes in the ms in which one of them closes for good', () => {
    const { random, seed } = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const { known, instances } = world(random);
      for (const { text, end, close } of instances) {
        if (close === undefined) continue;
        const last = end + close.graceMs + TOLERANCE;
        const texts = [last, last + 1].map((time) =>
          closedUntil(known.definition, time, TOLERANCE),
        );
        expect([seed, round, text, texts[0] === texts[1]]).toEqual([seed, round, text, false]);
      }
    }
  });
});

describe('a record', () => {
  it('has served once its window has expired, unless it is the last one of these', () => {
    const { random, seed } = seededRandom();
    let deleted = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { known, instances } = world(random);
      const { clock, records } = known;
      const expired = instances.filter((instance) => {
        const record = records.get(instance.text);
        if (record === undefined || !isClosing(instance)) return false;
        const isMissed = record.revision - (record.view === null ? 0 : 1) === 0;
        return !isMissed && isOver(instance, clock);
      });
      const served = expired.filter(({ name, end }) =>
        expired.some((other) => other.name === name && other.end > end),
      );
      const found = servedRecords(known).map(({ window }) => window);
      const texts = served.map(({ text }) => text);
      expect([seed, round, found.sort()]).toEqual([seed, round, texts.sort()]);
      deleted += found.length;
    }
    expect(deleted).toBeGreaterThan(0);
  });

  it('of a missed window stays for 30 days of the event clock', () => {
    const close = { from: FIRST, graceMs: 0, reviewMs: 0, results: 1 };
    const definition = { ...arena, windows: [{ kind: 'day', keepMs: 2 * DAY, close } as const] };
    const records = new Map(
      [1, 2].map((day) => {
        const window = `day:2026-03-0${day}`;
        return [window, { board: 'arena', window, revision: 0, view: null, ends: new Map() }];
      }),
    );
    const servedAt = (days: number) =>
      servedRecords({ definition, records, clock: FIRST + days * DAY }).map(({ window }) => window);
    expect(servedAt(33.9)).toEqual([]);
    expect(servedAt(34)).toEqual(['day:2026-03-01']);
  });

  it('keeps a window whose record was deleted from being announced again after a longer keep', () => {
    const close = { from: FIRST, graceMs: 0, reviewMs: 0, results: 1 };
    const definition = { ...arena, windows: [{ kind: 'day', close } as const] };
    const window = 'day:2026-03-02';
    const record = { board: 'arena', window, revision: 1, view: null, ends: new Map() };
    const windows = ['day:2026-03-01', window, 'day:2026-03-03'];
    const known = { definition, clock: null, windows, records: new Map([[window, record]]) };
    const states = periodsOf(known, FIRST + 9 * DAY, TOLERANCE).map((period: Period) => [
      period.window,
      period.state,
    ]);
    expect(states).toEqual([
      [window, 'announced'],
      ['day:2026-03-03', 'waiting'],
    ]);
  });
});
