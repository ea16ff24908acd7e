import { HOLDER, UnknownBoardError, type Lease } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { logRanges, toError } from '#kafka-batch';
import { HistoryCutError } from './errors.js';
import {
  GenerationRun,
  type ReconcilerParts,
  type RunOptions,
  type RunWork,
  type ShadowAtWork,
} from './generation-run.js';
import { cutPartitions, nextOf, type OpenShadow } from './log-history.js';
import { withRetries } from './retries.js';
import { warnOfDiscardedShadow } from './shadow-plan.js';

/** A board whose generation went live. */
export interface PromotionReport {
  readonly board: string;
  readonly generation: string;
  /** The generation that was live before; missing for the first. */
  readonly previous?: string;
  /** The time in us, by the server's clock, at which it went live. */
  readonly since: number;
}

/** The generation in the definition record of a removed board that was never live. */
const NEVER_LIVE = '-';

/** Brings a shadow to the live applied offsets, makes it live in the same step, and records its definition. */
export async function promote(
  parts: ReconcilerParts,
  { lease, shadow, catchUp, signal }: ShadowAtWork,
): Promise<PromotionReport> {
  const { generations, graceMs } = parts;
  const { board, generation, definition, starts } = shadow;
  const promotion = await catchUp.reach((stretches) =>
    generations.promote(lease, shadow, stretches, { graceMs }),
  );
  const { since } = promotion;
  await record(parts, { board, generation, since, definition, ...(starts && { starts }) }, signal);
  return { board, generation, ...promotion };
}

/**
 * Promotes the previous generation of a board again, once it is caught up; the live one becomes the previous one.
 * @throws UnknownBoardError, BoardBuildingError, NoPreviousGenerationError, HistoryCutError
 */
export async function rollBack(
  parts: ReconcilerParts,
  board: string,
  options: RunOptions,
): Promise<PromotionReport> {
  await parts.store.liveBoard(board); // throws for an unknown board, before a status is reported
  const work: RunWork<PromotionReport> = {
    kind: 'rollback',
    isResumable: false,
    boards: () => [board],
    plan: () => Promise.resolve(new Map([[board, (lease) => beginRollback(parts, lease)]])),
    finish: async (at) => {
      const promotion = await promote(parts, at);
      await at.end(`back to generation ${promotion.generation}`);
      return promotion;
    },
  };
  return new GenerationRun(parts, work, options).runOne();
}

async function beginRollback(parts: ReconcilerParts, lease: Lease): Promise<OpenShadow> {
  const { generations, admin, topic } = parts;
  await warnOfDiscardedShadow(parts, lease.board, 'rollback');
  const shadow = await generations.beginRollback(lease);
  const opened = { shadow, appliedOffsets: await generations.shadowAppliedOffsets(shadow) };
  const cut = cutPartitions(await logRanges(admin, topic), nextOf(opened));
  if (cut.length === 0) return opened;
  await generations.discard(lease, shadow);
  throw new HistoryCutError([lease.board], cut, false);
}

/** Removes a board, and records that in the definitions topic. @throws LeaseHeldError, UnknownBoardError */
export async function removeBoard(
  parts: ReconcilerParts,
  board: string,
  signal: AbortSignal,
): Promise<void> {
  await record(parts, await remove(parts, board), signal);
}

async function remove(
  { store, leases, generations }: ReconcilerParts,
  board: string,
): Promise<DefinitionRecord> {
  const lease = await leases.acquire(board, HOLDER);
  try {
    const { live } = await store.boards();
    const generation = live.get(board)?.generation ?? NEVER_LIVE;
    const since = await generations.remove(lease);
    if (since === 0) throw new UnknownBoardError(board, [...live.keys()].sort());
    await leases.deleteStatus(board);
    return { board, generation, since, definition: null };
  } finally {
    await leases.release(lease);
  }
}

/** Writes a definition record. A failure is only logged, as Redis has changed already: the role reconciliation writes it later. */
async function record(
  { definitions, logger }: Pick<ReconcilerParts, 'definitions' | 'logger'>,
  current: DefinitionRecord,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withRetries(() => definitions.write([current]), { signal, logger });
  } catch (error) {
    const { board, generation, definition } = current;
    const what = definition === null ? 'its removal' : `the definition of generation ${generation}`;
    const why = signal.aborted ? 'the run was ended' : toError(error).message;
    logger.warn(
      `board "${board}": ${what} is not written to Kafka yet (${why}); the role reconciliation writes it, and has to run somewhere`,
    );
  }
}
