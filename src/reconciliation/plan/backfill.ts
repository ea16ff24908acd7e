import type { ReconciliationStatus } from '#board-store';
import type { LogRange } from '#kafka-batch';

/** What is read of the log for all boards that are built: one pass. */
export interface Backfill {
  readonly records: number;
  /** null: nothing tells. */
  readonly seconds: number | null;
  /** Records per second that `seconds` rests on. */
  readonly rate: number | null;
  /** Whose rate that is: that of the last build, of reading a sample (a build writes, too, and takes longer), or the throttle, which counts the players that are put in order, too. */
  readonly basis: 'last build' | 'sample' | 'throttle' | null;
}

/** Offsets of the log in each partition, and of the last event that is live there. */
export interface LogFacts {
  readonly ranges: ReadonlyMap<number, LogRange>;
  readonly watermarks: ReadonlyMap<number, number>;
  /** Where a build begins; a partition that is missing: at the start of its log. */
  readonly from?: ReadonlyMap<number, number>;
}

/** Records from the start of the log up to the live watermarks: markers of transactions count as records. */
export function recordsToRead({ ranges, watermarks, from }: LogFacts): number {
  return [...watermarks].reduce((sum, [partition, watermark]) => {
    const start = Math.max(ranges.get(partition)?.start ?? 0, from?.get(partition) ?? 0);
    return sum + Math.max(0, watermark + 1 - start);
  }, 0);
}

/** How long `records` take, by the last build that ended well, else by a sample; at most `throttle` a second. */
export function backfill(
  records: number,
  {
    statuses,
    sampleRate,
    throttle = Infinity,
  }: {
    statuses: readonly ReconciliationStatus[];
    sampleRate: number | null;
    throttle?: number | undefined;
  },
): Backfill {
  const built = lastBuildRate(statuses);
  const found = built ?? sampleRate;
  if (throttle < (found ?? 0)) return timed(records, throttle, 'throttle');
  if (found === null) return { records, seconds: null, rate: null, basis: null };
  return timed(records, Math.round(found), built === undefined ? 'sample' : 'last build');
}

function timed(records: number, rate: number, basis: Backfill['basis']): Backfill {
  return { records, seconds: Math.ceil(records / rate), rate, basis };
}

/** Shorter builds than this tell of connections and readiness alone. */
const SHORTEST_BUILD_MS = 200;

function lastBuildRate(statuses: readonly ReconciliationStatus[]): number | undefined {
  const [last] = statuses
    .filter(({ kind, state, total }) => kind === 'build' && state === 'done' && total > 0)
    .filter(({ startedAt, updatedAt }) => updatedAt - startedAt >= SHORTEST_BUILD_MS)
    .sort((a, b) => b.updatedAt - a.updatedAt);
  return last && (last.total * 1_000) / (last.updatedAt - last.startedAt);
}
