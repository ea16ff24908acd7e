import type { ReconciliationStatus } from '#board-store';
import type { LogRange } from '#kafka-batch';

/** What is read of the log for all boards that are built: one pass. */
export interface Backfill {
  readonly records: number;
  /** The last build that read records and ended well; null: none is known. */
  readonly lastBuild: { readonly records: number; readonly seconds: number } | null;
}

/** Offsets of the log in each partition, and of the last event that is live there. */
export interface LogFacts {
  readonly ranges: ReadonlyMap<number, LogRange>;
  readonly appliedOffsets: ReadonlyMap<number, number>;
  /** Where a build begins; a partition that is missing: at the start of its log. */
  readonly from?: ReadonlyMap<number, number>;
}

/** Reads from the start of the log up to the live applied offsets. Transaction markers count as records. */
export function backfillOf(
  { ranges, appliedOffsets, from }: LogFacts,
  statuses: readonly ReconciliationStatus[],
): Backfill {
  const counts = [...appliedOffsets].map(([partition, appliedOffset]) => {
    const start = Math.max(ranges.get(partition)?.start ?? 0, from?.get(partition) ?? 0);
    return Math.max(0, appliedOffset + 1 - start);
  });
  return { records: counts.reduce((sum, count) => sum + count, 0), lastBuild: lastBuild(statuses) };
}

function lastBuild(statuses: readonly ReconciliationStatus[]): Backfill['lastBuild'] {
  const [last] = statuses
    .filter(({ kind, state, total }) => kind === 'build' && state === 'done' && total > 0)
    .sort((a, b) => b.updatedAt - a.updatedAt);
  if (last === undefined) return null;
  return { records: last.total, seconds: (last.updatedAt - last.startedAt) / 1_000 };
}
