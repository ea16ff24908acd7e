import { toError } from '#kafka-batch';
import type { DefinitionInForce } from '#contracts';
import { patiently } from './patiently.js';
import type { ReconcilerParts } from './reconciler-parts.js';

/**
 * Writes what is in force to the definitions topic. What Redis has done stands without it, so a failure is only told: the
 * role reconciliation makes up for it.
 */
export async function writeDown(
  { definitions, logger }: Pick<ReconcilerParts, 'definitions' | 'logger'>,
  record: DefinitionInForce,
  signal: AbortSignal,
): Promise<void> {
  try {
    await patiently(() => definitions.write([record]), { signal, logger });
  } catch (error) {
    const { board, generation, definition } = record;
    const what = definition === null ? 'its removal' : `the definition of generation ${generation}`;
    const why = signal.aborted ? 'the run was ended' : toError(error).message;
    logger.warn(
      `board "${board}": ${what} is not written to Kafka yet (${why}); the role reconciliation does that, and has to run somewhere`,
    );
  }
}
