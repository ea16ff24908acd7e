import {
  closeOf,
  parseWindow,
  windowName,
  windowOf,
  windowsAt,
  type BoardDefinition,
  type Close,
  type WindowInstance,
} from '#board';
import type { PeriodRecord } from '#contracts';

/**
 * How long a missed window is remembered after it has expired, in ms of the board's event clock.
 */
const MISSED_KEPT_MS = 30 * 86_400_000;

/** What is known of the closing windows of a board. */
export interface KnownPeriods {
  readonly definition: BoardDefinition;
  /** The board's event clock in ms; null before the first event, and if no window has `keep`. */
  readonly clock: number | null;
  /** The instances that have views, such as `week:2026-W47`. */
  readonly windows: Iterable<string>;
  /** The records of the board, by the text of the instance. */
  readonly records: ReadonlyMap<string, PeriodRecord>;
}

export const PERIOD_STATES = ['open', 'waiting', 'review', 'announced', 'missed'] as const;

/**
 * An instance of a closing window that has views, or had them when its announcement was due.
 * `open`: records still change it. `waiting`: for the end of the log to be published, then for the
 * announcer. `review`: until its time is over, or until a command ends it. `announced`: in
 * `revision`. `missed`: it expired before it was announced.
 */
export interface Period {
  readonly board: string;
  readonly window: string;
  readonly state: (typeof PERIOD_STATES)[number];
  /** The last complete announcement; 0 for none. */
  readonly revision: number;
  readonly start: number;
  readonly end: number;
  readonly closesAt: number;
  /** After this time no broker stamps a record any more that the window would take. */
  readonly finalAt: number;
  /** null: a command ends the review. */
  readonly reviewEndsAt: number | null;
  /** How many players an announcement names at most. */
  readonly results: number;
  /** What is done; undefined until the window was first seen closed. */
  readonly record: PeriodRecord | undefined;
}

/**
 * The closing windows of a board at a time (ms), in the order of their ends. `toleranceMs`: how far
 * behind the clock of a broker, which stamps the records, may be.
 */
export function periodsOf(
  { definition, clock, windows, records }: KnownPeriods,
  now: number,
  toleranceMs: number,
) {
  const texts = new Set([...windows, ...records.keys()]);
  const viewed = new Set(windows);
  const oldest = oldestRecords(definition, records);
  const found = [...texts].flatMap((text): Period[] => {
    const closing = closingInstance(definition, text);
    if (closing === undefined) return [];
    const { instance, close, closesAt, name } = closing;
    const record = records.get(text);
    const isExpired = hasExpired(instance, clock);
    if (record === undefined && (isExpired || instance.end <= (oldest.get(name) ?? -Infinity)))
      return [];
    const isBegun = record !== undefined && record.revision > 0;
    if (!isExpired && !isBegun && !viewed.has(text)) return [];
    const { reviewMs, results } = close;
    const reviewEndsAt = reviewMs === 'manual' ? null : closesAt + reviewMs;
    const revision = completeRevision(record);
    const ends = { closesAt, finalAt: closesAt + toleranceMs, reviewEndsAt };
    const facts = { window: text, revision, ...ends, results, record };
    const { start, end } = instance;
    const state = stateOf({ ...facts, isExpired, isBegun }, now);
    return [{ board: definition.board, ...facts, start, end, state }];
  });
  return found.sort((a, b) => a.end - b.end || (a.window < b.window ? -1 : 1));
}

/** Whether the announcer has to announce a window, or to go on with an announcement. */
export function isDue(period: Period, now: number): boolean {
  if (period.state === 'missed') return false;
  if (isUnfinished(period)) return true;
  return period.state === 'waiting' && hasClosed(period, now);
}

/** Whether an announcement was begun and is not complete. */
export function isUnfinished({ record }: Period): boolean {
  return record !== undefined && record.view !== null;
}

/** Whether no broker stamps a record any more that the window would take. */
export function hasClosed({ finalAt }: Pick<Period, 'finalAt'>, now: number): boolean {
  return now > finalAt;
}

/** How long an announcement has been due, in ms; 0 if it is not. A manual review is never over. */
export function overdueMs(period: Period, now: number): number {
  const { state, closesAt, finalAt, reviewEndsAt } = period;
  const isAnnounced = state === 'announced' || state === 'missed';
  if (isAnnounced || reviewEndsAt === null) return 0;
  const toleranceMs = finalAt - closesAt;
  return Math.max(0, now - (Math.max(closesAt, reviewEndsAt) + toleranceMs));
}

/**
 * The records that have served: those of expired windows. The last one of each window of the
 * definition stays: with a longer `keep`, an expired instance can exist again, and whatever ended
 * before that one must not be announced a second time.
 */
export function servedRecords({ definition, clock, records }: Omit<KnownPeriods, 'windows'>) {
  const last = new Map<string, number>();
  const expired = [...records.values()].flatMap((record) => {
    const closing = closingInstance(definition, record.window);
    if (closing === undefined) return [];
    const { instance, name } = closing;
    const keptMs = completeRevision(record) === 0 ? MISSED_KEPT_MS : 0;
    if (!hasExpired(instance, clock === null ? null : clock - keptMs)) return [];
    last.set(name, Math.max(instance.end, last.get(name) ?? -Infinity));
    return [{ record, name, end: instance.end }];
  });
  return expired.filter(({ name, end }) => end < (last.get(name) ?? 0)).map(({ record }) => record);
}

/**
 * A text that changes whenever a further instance of a closing window closes: the instances that
 * contain the last time that is closed for good.
 */
export function closedUntil(definition: BoardDefinition, now: number, toleranceMs: number): string {
  const texts = definition.windows.map((window, index) => {
    const close = closeOf(window);
    if (close === undefined) return '';
    const last = now - toleranceMs - close.graceMs - 1;
    if (window.kind === 'season') return String(last >= window.to);
    return windowsAt(definition, last)[index]?.text ?? '';
  });
  return texts.join(' ');
}

/** An instance that closes; `name` is that of its window in the definition. */
interface ClosingInstance {
  readonly instance: WindowInstance;
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

/** Of each window of the definition, the end of the oldest instance with a record. */
function oldestRecords(definition: BoardDefinition, records: KnownPeriods['records']) {
  const oldest = new Map<string, number>();
  for (const text of records.keys()) {
    const closing = closingInstance(definition, text);
    if (closing === undefined) continue;
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

type StateFacts = Pick<Period, 'revision' | 'closesAt' | 'finalAt' | 'reviewEndsAt'> & {
  readonly isExpired: boolean;
  readonly isBegun: boolean;
};

function stateOf(facts: StateFacts, now: number): Period['state'] {
  const { revision, closesAt, reviewEndsAt, isExpired, isBegun } = facts;
  if (revision > 0) return 'announced';
  if (isExpired) return 'missed';
  if (now <= closesAt) return 'open';
  if (isBegun || !hasClosed(facts, now)) return 'waiting';
  return reviewEndsAt === null || now < reviewEndsAt ? 'review' : 'waiting';
}
