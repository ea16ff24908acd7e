import {
  closeOf,
  parseWindow,
  windowName,
  windowOf,
  type BoardDefinition,
  type Close,
  type WindowInstance,
} from '#board';
import type { PeriodRecord } from '#contracts';

/** How long a missed window is remembered after it has expired, by the board's event clock. */
const MISSED_KEPT_MS = 30 * 86_400_000;

/** The record of a window: how far its announcement has come. */
export interface KnownRecord extends PeriodRecord {
  /** Why the record can't be read, so that the window must not be announced. */
  readonly problem?: string;
}

/** The records of all boards, by periodName. */
export type PeriodRecords = ReadonlyMap<string, KnownRecord>;

/** The facts in Redis about the closing windows of a board. */
export interface KnownWindows {
  readonly definition: BoardDefinition;
  /** The board's event clock in ms; null before the first event, and if no window has `keep`. */
  readonly clock: number | null;
  /** The instances that have views, such as `week:2026-W47`. */
  readonly windows: ReadonlySet<string>;
}

export interface Clocks {
  /** In ms. */
  readonly now: number;
  /** How far the clock of a broker, which stamps the records, may be behind, in ms. */
  readonly toleranceMs: number;
}

/**
 * An instance of a closing window that has views, or had them when its announcement was due.
 * States: `open`: records still change it. `waiting`: for the publication of all records of the
 * log, then for the announcer. `review`: until the time of the review is over, or until a command
 * ends it. `announced`: as `revision`. `missed`: it expired before it was announced.
 */
export interface Period {
  readonly board: string;
  readonly window: string;
  readonly state: 'open' | 'waiting' | 'review' | 'announced' | 'missed';
  /** The last complete announcement; 0 for none. */
  readonly revision: number;
  readonly start: number;
  readonly end: number;
  readonly closesAt: number;
  /** After this time, no broker gives a record a timestamp that the window would take. */
  readonly finalAt: number;
  /** Whether `finalAt` is over. */
  readonly isFinal: boolean;
  /** Whether its views no longer exist, by the event clock. */
  readonly isExpired: boolean;
  /** null: a command ends the review. */
  readonly reviewEndsAt: number | null;
  /** How many players an announcement names at most. */
  readonly results: number;
  /** Undefined until the announcer has first seen the window closed. */
  readonly record: KnownRecord | undefined;
}

/** The closing windows of a board, in the order of their ends. `all`: the records of all boards. */
export function periodsOf(known: KnownWindows, all: PeriodRecords, clocks: Clocks): Period[] {
  const { definition, clock, windows } = known;
  const { board } = definition;
  const records = recordsOf(definition, all);
  const announced = oldestAnnounced(definition, records.values());

  const periods: Period[] = [];
  for (const window of new Set([...windows, ...records.keys()])) {
    const closing = closingInstance(definition, window);
    if (closing === undefined) continue;

    const record = records.get(window);
    const isExpired = hasExpired(closing.instance, clock);
    if (record === undefined) {
      // Older than all announced instances: it was announced, too, and its record was deleted.
      const isDone = closing.instance.end <= (announced.get(closing.name) ?? -Infinity);
      if (isExpired || isDone) continue;
    } else if (record.problem !== undefined) {
      if (isExpired) continue;
    } else if (!isBegun(record) && !isExpired && !windows.has(window)) {
      continue;
    }
    periods.push(periodOf(closing, { board, window, isExpired, record }, clocks));
  }
  return periods.sort((a, b) => a.end - b.end || (a.window < b.window ? -1 : 1));
}

type Found = Pick<Period, 'board' | 'window' | 'isExpired' | 'record'>;

function periodOf(closing: ClosingInstance, found: Found, { now, toleranceMs }: Clocks): Period {
  const { instance, close, closesAt } = closing;
  const { start, end } = instance;
  const { reviewMs, results } = close;
  const reviewEndsAt = reviewMs === 'manual' ? null : closesAt + reviewMs;
  const finalAt = closesAt + toleranceMs;
  const isFinal = now > finalAt;
  const revision = completeRevision(found.record);
  const facts = { ...found, revision, closesAt, isFinal, reviewEndsAt };
  return { ...facts, start, end, finalAt, results, state: stateOf(facts, now) };
}

/** Whether the announcer has to begin or to continue an announcement. */
export function isDue(period: Period): boolean {
  if (period.isExpired || period.state === 'open' || isUnreadable(period)) return false;
  return isUnfinished(period) || (period.state === 'waiting' && period.isFinal);
}

/** Whether an announcement has begun and is not complete. */
export function isUnfinished({ record }: Period): boolean {
  return record !== undefined && record.view !== null;
}

/**
 * Whether the announcer must note the ends of the score topic: the window is final, and no ends
 * were noted after `finalAt`.
 */
export function needsEnds(period: Period): boolean {
  const { state, isExpired, isFinal, record, finalAt } = period;
  if (!isFinal || isExpired || isUnreadable(period)) return false;
  if (state === 'announced' && !isUnfinished(period)) return false;
  return record === undefined || record.notedAt <= finalAt;
}

function isUnreadable({ record }: Period): boolean {
  return record?.problem !== undefined;
}

/** How long an announcement has been due, in ms; 0 if none is due, as during a manual review. */
export function overdueMs(period: Period, now: number): number {
  const { state, closesAt, finalAt, reviewEndsAt } = period;
  const isOver = state === 'announced' || state === 'missed';
  if (isOver || reviewEndsAt === null) return 0;

  const toleranceMs = finalAt - closesAt;
  const dueAt = Math.max(closesAt, reviewEndsAt) + toleranceMs;
  return Math.max(0, now - dueAt);
}

/**
 * The records of expired instances of a board's windows. Keeps one record for each window of the
 * definition, that of the last announced instance. It prevents a second announcement of earlier
 * instances: with a longer `keep`, expired instances can exist again.
 */
export function obsoleteRecords(
  { definition, clock }: Omit<KnownWindows, 'windows'>,
  all: PeriodRecords,
): PeriodRecord[] {
  const expired: { record: KnownRecord; name: string; end: number }[] = [];
  const lastAnnounced = new Map<string, number>();
  for (const record of recordsOf(definition, all).values()) {
    const closing = closingInstance(definition, record.window);
    if (closing === undefined || record.problem !== undefined) continue;

    const { instance, name } = closing;
    const keptMs = completeRevision(record) === 0 ? MISSED_KEPT_MS : 0;
    if (clock === null || !hasExpired(instance, clock - keptMs)) continue;

    const { end } = instance;
    expired.push({ record, name, end });
    if (isBegun(record))
      lastAnnounced.set(name, Math.max(end, lastAnnounced.get(name) ?? -Infinity));
  }

  const obsolete = expired.filter(({ record, name, end }) => {
    return !isBegun(record) || end < (lastAnnounced.get(name) ?? -Infinity);
  });
  return obsolete.map(({ record }) => record);
}

/** The records of a board, by the text of the instance. */
function recordsOf({ board }: BoardDefinition, all: PeriodRecords): Map<string, KnownRecord> {
  const own = [...all.values()].filter((record) => record.board === board);
  return new Map(own.map((record) => [record.window, record]));
}

/** An instance of a window that closes. */
interface ClosingInstance {
  readonly instance: WindowInstance;
  /** The name of the window in the definition. */
  readonly name: string;
  readonly close: Close;
  readonly closesAt: number;
}

function closingInstance(definition: BoardDefinition, text: string): ClosingInstance | undefined {
  const window = windowOf(definition, text);
  const instance = parseWindow(definition, text);
  const close = window && closeOf(window);
  const closesAt = instance?.closesAt ?? null;
  if (window === undefined || instance === undefined) return undefined;
  if (close === undefined || closesAt === null) return undefined;
  return { instance, name: windowName(window), close, closesAt };
}

/** The end of the oldest announced instance, by the name of the window in the definition. */
function oldestAnnounced(definition: BoardDefinition, records: Iterable<PeriodRecord>) {
  const oldest = new Map<string, number>();
  for (const record of records) {
    const closing = closingInstance(definition, record.window);
    if (closing === undefined || !isBegun(record)) continue;
    const { name, instance } = closing;
    oldest.set(name, Math.min(instance.end, oldest.get(name) ?? Infinity));
  }
  return oldest;
}

function hasExpired({ expiresAt }: WindowInstance, clock: number | null): boolean {
  return expiresAt !== null && clock !== null && clock >= expiresAt;
}

function completeRevision(record: PeriodRecord | undefined): number {
  if (record === undefined) return 0;
  return record.view === null ? record.revision : record.revision - 1;
}

function isBegun({ revision }: PeriodRecord): boolean {
  return revision > 0;
}

type StateFacts = Pick<
  Period,
  'revision' | 'closesAt' | 'isFinal' | 'isExpired' | 'reviewEndsAt' | 'record'
>;

function stateOf(facts: StateFacts, now: number): Period['state'] {
  const { revision, closesAt, isFinal, isExpired, reviewEndsAt, record } = facts;
  if (isExpired) return revision > 0 ? 'announced' : 'missed';
  if (now <= closesAt) return 'open'; // also if it was announced, and its end has moved since
  if (revision > 0) return 'announced';
  if (!isFinal) return 'waiting';
  if (record !== undefined && (isBegun(record) || record.problem !== undefined)) return 'waiting';
  return reviewEndsAt === null || now < reviewEndsAt ? 'review' : 'waiting';
}
