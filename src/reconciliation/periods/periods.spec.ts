import { describe, expect, it } from '@jest/globals';
import type { BoardDefinition, Close } from '#board';
import { periodName } from '#contracts';
import { arena } from '../../../test/support/arena.js';
import { seededRandom } from '../../../test/support/seeded-random.js';
import {
  isDue,
  needsEnds,
  obsoleteRecords,
  overdueMs,
  periodsOf,
  type KnownRecord,
  type KnownWindows,
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

function newWorld(random: () => number) {
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
  const records = new Map<string, KnownRecord>();
  for (const { text, close, end } of instances)
    if (close !== undefined && random() < 0.5) {
      const revision = below(3);
      const view = revision > 0 && random() < 0.3 ? text : null;
      const notedAt = end + close.graceMs + below(3) * MINUTE;
      const record = { board: 'arena', window: text, revision, view, ends: new Map(), notedAt };
      const isUnreadable = revision === 0 && random() < 0.2;
      records.set(text, isUnreadable ? { ...record, problem: 'unreadable' } : record);
    }
  const now = FIRST + below((DAYS + 2) * 24 * 60) * MINUTE + below(3) - 1;
  const clock = random() < 0.2 ? null : FIRST + below((DAYS + 5) * 24) * HOUR;
  const known: KnownWindows = { definition, clock, windows: new Set(windows) };
  return { known, records, all: ofAllBoards(records.values()), instances, clocks: clocksAt(now) };
}

const clocksAt = (now: number) => ({ now, toleranceMs: TOLERANCE });

/** The records of a board, and such of another board with the same windows. */
function ofAllBoards(records: Iterable<KnownRecord>): Map<string, KnownRecord> {
  const all = [...records].flatMap((record) => [
    record,
    { ...record, board: 'cup', revision: record.revision + 1, view: null },
  ]);
  return new Map(all.map((record) => [periodName(record), record]));
}

const isOver = ({ keepMs, end }: Instance, clock: number | null) =>
  keepMs !== undefined && clock !== null && clock >= end + keepMs;
const isClosing = ({ close, end }: Instance): boolean => close !== undefined && end >= close.from;

/** The plain rules of the states; undefined: not listed. */
function expectedState(instance: Instance, world: ReturnType<typeof newWorld>) {
  const { text, name, end, close } = instance;
  if (close === undefined || !isClosing(instance)) return undefined;
  const { records, known, instances } = world;
  const { clock } = known;
  const { now } = world.clocks;
  const record = records.get(text);
  const hasViews = known.windows.has(text);
  const isExpired = isOver(instance, clock);
  const others = instances.filter((other) => other.name === name && isClosing(other));
  const announced = others.filter((other) => (records.get(other.text)?.revision ?? 0) > 0);
  const isOlder = announced.length > 0 && announced.every((other) => other.end > end);
  if (record === undefined) {
    if (isExpired || !hasViews || isOlder) return undefined;
  } else if (record.problem !== undefined) {
    if (isExpired) return undefined;
  } else if (record.revision === 0 && !isExpired && !hasViews) return undefined;
  const complete = record ? record.revision - (record.view === null ? 0 : 1) : 0;
  if (isExpired) return complete > 0 ? `announced ${complete}` : 'missed 0';
  const closesAt = end + close.graceMs;
  if (now <= closesAt) return `open ${complete}`;
  if (complete > 0) return `announced ${complete}`;
  if (record?.problem !== undefined) return 'waiting 0';
  const isBegun = (record?.revision ?? 0) > 0;
  const isInReview = close.reviewMs === 'manual' || now < closesAt + close.reviewMs;
  return now > closesAt + TOLERANCE && isInReview && !isBegun ? 'review 0' : 'waiting 0';
}

describe('the periods of a board', () => {
  it('have the states that the plain rules give them, in the order of their ends', () => {
    const { random, seed } = seededRandom();
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const world = newWorld(random);
      const { known, all, instances, clocks } = world;
      const periods = periodsOf(known, all, clocks);
      const states = instances.flatMap((instance) => {
        const state = expectedState(instance, world);
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
      const { known, all, clocks } = newWorld(random);
      const { now } = clocks;
      for (const period of periodsOf(known, all, clocks)) {
        const { record, closesAt, reviewEndsAt, state, isExpired } = period;
        const isFinal = now > closesAt + TOLERANCE;
        const isPast = isFinal && reviewEndsAt !== null && now >= reviewEndsAt;
        const isUnfinished = record !== undefined && record.view !== null;
        const isReadable = record?.problem === undefined;
        const isOver = isExpired || now <= closesAt || !isReadable;
        const isWanted = !isOver && (isUnfinished || (state !== 'announced' && isPast));
        const lacksEnds = record === undefined || record.notedAt <= closesAt + TOLERANCE;
        const isLeft = isUnfinished || state !== 'announced';
        const isNoted = isFinal && !isExpired && isReadable && isLeft && lacksEnds;
        const found = [isDue(period), needsEnds(period)];
        expect([seed, round, period.window, found]).toEqual([
          ...[seed, round, period.window],
          [isWanted, isNoted],
        ]);
        const late = now - Math.max(closesAt, reviewEndsAt ?? Infinity) - TOLERANCE;
        const isOpen = state !== 'announced' && state !== 'missed';
        expect(overdueMs(period, now)).toBe(isOpen ? Math.max(0, late) : 0);
      }
    }
  });
});

describe('a record', () => {
  it('is obsolete once its window has expired, unless it is the last announced one of these', () => {
    const { random, seed } = seededRandom();
    let deleted = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { known, records, all, instances } = newWorld(random);
      const isBegun = ({ text }: Instance) => (records.get(text)?.revision ?? 0) > 0;
      const expired = instances.filter((instance) => {
        const record = records.get(instance.text);
        if (record === undefined || record.problem !== undefined) return false;
        const isMissed = record.revision - (record.view === null ? 0 : 1) === 0;
        return isClosing(instance) && !isMissed && isOver(instance, known.clock);
      });
      const obsolete = expired.filter(({ name, end }) =>
        expired.some((other) => other.name === name && isBegun(other) && other.end > end),
      );
      const found = obsoleteRecords(known, all).map(({ window }) => window);
      const texts = obsolete.map(({ text }) => text);
      expect([seed, round, found.sort()]).toEqual([seed, round, texts.sort()]);
      deleted += found.length;
    }
    expect(deleted).toBeGreaterThan(0);
  });

  const close = { from: FIRST, graceMs: 0, reviewMs: 0, results: 1 };
  const windowOf = (day: number) => `day:2026-03-0${day}`;
  const recordOf = (day: number, revision: number): KnownRecord => {
    const window = windowOf(day);
    return { board: 'arena', window, revision, view: null, ends: new Map(), notedAt: 0 };
  };

  it('of a missed window stays for 30 days of the event clock', () => {
    const definition = { ...arena, windows: [{ kind: 'day', keepMs: 2 * DAY, close } as const] };
    const all = ofAllBoards([recordOf(1, 0), recordOf(2, 0)]);
    const obsoleteAt = (days: number) =>
      obsoleteRecords({ definition, clock: FIRST + days * DAY }, all).map(({ window }) => window);
    expect(obsoleteAt(32.9)).toEqual([]);
    expect(obsoleteAt(33)).toEqual([windowOf(1)]);
    expect(obsoleteAt(34)).toEqual([windowOf(1), windowOf(2)]);
  });

  const definition = { ...arena, windows: [{ kind: 'day', close } as const] };
  const known = { definition, clock: null, windows: new Set([1, 2, 3].map(windowOf)) };
  const statesWith = (...records: KnownRecord[]) =>
    periodsOf(known, ofAllBoards(records), clocksAt(FIRST + 9 * DAY)).map(
      ({ window, state }: Period) => [window, state],
    );

  it('keeps a window whose record was deleted from being announced again after a longer keep', () => {
    expect(statesWith(recordOf(2, 1))).toEqual([
      [windowOf(2), 'announced'],
      [windowOf(3), 'waiting'],
    ]);
  });

  it('that is not announced hides no window whose events are applied later', () => {
    expect(statesWith(recordOf(2, 0))).toEqual([1, 2, 3].map((day) => [windowOf(day), 'waiting']));
  });
});
