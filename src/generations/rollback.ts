import type { Lease } from '#board-store';
import { logRanges } from '#kafka-batch';
import { HistoryCutError } from './errors.js';
import { cutPartitions, nextOf, type OpenShadow } from './history.js';
import { makeLive } from './promote.js';
import type { PromotionReport } from './reports.js';
import { tellGivenUp } from './shadow-plan.js';
import {
  runForBoard,
  type ReconcilerParts,
  type RunOptions,
  type ShadowAtWork,
} from './shadow-tasks.js';

/**
 * Brings the previous generation of a board up to date, and back; the one that it replaces is the previous one then.
 * @throws UnknownBoardError, BoardBuildingError, NoPreviousGenerationError, HistoryCutError
 */
export async function rollBack(
  parts: ReconcilerParts,
  board: string,
  options: RunOptions,
): Promise<PromotionReport> {
  await parts.store.liveBoard(board); // so that nothing is told of a board that there is not
  return runForBoard(parts, { board, kind: 'rollback', options }, ({ signal }) =>
    Promise.resolve({
      open: (lease: Lease) => beginRollback(parts, lease),
      isResumable: false,
      finish: (at: ShadowAtWork) => finishRollback(parts, at, signal),
    }),
  );
}

async function finishRollback(
  parts: ReconcilerParts,
  at: ShadowAtWork,
  signal: AbortSignal,
): Promise<PromotionReport> {
  const promotion = await makeLive(parts, at, signal);
  await at.end(`back to generation ${promotion.generation}`);
  return promotion;
}

async function beginRollback(parts: ReconcilerParts, lease: Lease): Promise<OpenShadow> {
  const { generations, admin, topic } = parts;
  await tellGivenUp(parts, lease.board, 'rollback');
  const shadow = await generations.beginRollback(lease);
  const opened = { shadow, appliedOffsets: await generations.shadowAppliedOffsets(shadow) };
  const cut = cutPartitions({ needed: nextOf(opened), ranges: await logRanges(admin, topic) });
  if (cut.length === 0) return opened;
  await generations.discard(lease, shadow);
  throw new HistoryCutError([lease.board], cut, false);
}
