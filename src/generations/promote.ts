import { HOLDER, UnknownBoardError } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { toError } from '#kafka-batch';
import { withRetries } from './with-retries.js';
import type { PromotionReport } from './reports.js';
import type { ReconcilerParts, ShadowAtWork } from './shadow-tasks.js';

/**
 * Makes a shadow live once it is at the live applied offsets, then records its definition in the definitions topic. Returns the
 * promotion even if the record could not be written.
 */
export async function makeLive(
  parts: ReconcilerParts,
  { lease, shadow, catchUp }: Pick<ShadowAtWork, 'lease' | 'shadow' | 'catchUp'>,
  signal: AbortSignal,
): Promise<PromotionReport> {
  const { generations, graceMs } = parts;
  const { board, generation } = shadow;
  const promotion = await catchUp.reach((stretches) =>
    generations.promote(lease, shadow, stretches, { graceMs }),
  );
  const { definition, starts } = shadow;
  const current = {
    board,
    generation,
    since: promotion.since,
    definition,
    ...(starts && { starts }),
  };
  await record(parts, current, signal);
  return { board, generation, ...promotion };
}

/** Stands for the last generation of a removed board that was never live. */
const NEVER_LIVE = '-';

/** Removes a board, then records that in the definitions topic. @throws LeaseHeldError, UnknownBoardError */
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
    await leases.forget(board);
    return { board, generation, since, definition: null };
  } finally {
    await leases.release(lease);
  }
}

/**
 * Writes what is in force to the definitions topic. Redis has changed already, so a failure is only logged: the role
 * reconciliation writes the record later.
 */
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
      `board "${board}": ${what} is not written to Kafka yet (${why}); the role reconciliation does that, and has to run somewhere`,
    );
  }
}
