import type { Lease } from '#board-store';
import { logRanges } from '#kafka-batch';
import { HistoryCutError } from './errors.js';
import { cutPartitions } from './history.js';
import { runLeased } from './leased-run.js';
import { makeLive } from './make-live.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import type { FlipReport } from './reports.js';
import type { OpenShadow } from './shadow-plan.js';
import { ShadowTasks, type ShadowAtWork } from './shadow-tasks.js';

/**
 * Brings the previous generation of a board up to date, and back; the one that it replaces is the previous one then.
 * @throws NoPreviousGenerationError, HistoryCutError
 */
export async function rollBack(
  parts: ReconcilerParts,
  board: string,
  options: RunOptions,
): Promise<FlipReport> {
  const { leases, logger } = parts;
  const { signal, keepsShadows = false } = options;
  const leased = {
    leases,
    logger,
    kind: 'rollback' as const,
    boards: [board],
    signal,
    keepsShadows,
  };
  return runLeased(leased, async (attempt) => {
    const finish = (at: ShadowAtWork) => finishRollback(parts, at, attempt.signal);
    const open = (lease: Lease) => bringBack(parts, lease);
    const task = { board, open, isResumable: false, finish };
    const [report] = await new ShadowTasks(parts, attempt, options).run([task]);
    if (report === undefined) throw new Error(`the rollback of board ${board} came to nothing`);
    return report;
  });
}

async function finishRollback(
  parts: ReconcilerParts,
  at: ShadowAtWork,
  signal: AbortSignal,
): Promise<FlipReport> {
  const flip = await makeLive(parts, at, signal);
  await at.end(`back to generation ${flip.generation}`);
  return flip;
}

async function bringBack(
  { generations, admin, topic }: ReconcilerParts,
  lease: Lease,
): Promise<OpenShadow> {
  const shadow = await generations.bringBack(lease);
  const watermarks = await generations.shadowWatermarks(shadow);
  const ranges = await logRanges(admin, topic);
  const needed = (partition: number) =>
    (watermarks.get(partition) ?? (shadow.starts?.get(partition) ?? 0) - 1) + 1;
  const cut = cutPartitions({ needed, ranges });
  if (cut.length === 0) return { shadow, watermarks };
  await generations.abandon(lease, shadow);
  throw new HistoryCutError(lease.board, cut, false);
}
