import {
  MISSED,
  UNRANKED,
  UNSETTLED,
  type Promotion,
  type RankingCursor,
  type Starts,
} from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { toError } from '#errors';
import type { ShadowWork } from './log-pass.js';
import { settleRecords, takeOverWithRetries } from './player-records.js';
import type { ReconcilerParts } from './reconciler-parts.js';
import { withRetries } from './retries.js';

/** A board whose generation went live. */
export interface PromotionReport extends Promotion {
  readonly board: string;
  readonly generation: string;
  /** Where the generation begins, by partition; missing if it begins at the start of the log. */
  readonly starts?: Starts;
}

/**
 * Catches the shadow up. The call that reaches the live applied offsets also makes the shadow live.
 * Then writes its definition to Kafka.
 */
export async function promote(parts: ReconcilerParts, work: ShadowWork): Promise<PromotionReport> {
  const { board, generation, definition, starts } = work.shadow;
  const promotion = await goLive(parts, work);
  const promoted = { board, generation, ...(starts && { starts }) };
  const record = { ...promoted, since: promotion.since, definition };
  await recordDefinition(parts, record, work.signal);
  return { ...promoted, ...promotion };
}

/** Repeats the promotion, and does the work that Redis asks for first, until Redis promotes. */
async function goLive(parts: ReconcilerParts, work: ShadowWork): Promise<Promotion> {
  const { generations, graceMs } = parts;
  const { lease, shadow, catchUp } = work;
  let takenOver = await takeOverWithRetries(parts, work);

  for (;;) {
    const options = { graceMs, takenOver };
    const promotion = await catchUp.reach((stretches) =>
      generations.promote(lease, shadow, stretches, options),
    );
    switch (promotion) {
      case UNRANKED:
        // The build is not ranked yet, or `rank` ended early because Redis restarted.
        takenOver = await takeOverWithRetries(parts, work);
        await rank(parts, work);
        break;
      case UNSETTLED:
        // Player records came after the ranking had begun.
        await settleRecords(parts, work);
        break;
      case MISSED:
        // Live ingest has applied player records that the shadow does not read.
        takenOver = await takeOverWithRetries(parts, work);
        break;
      default:
        return promotion;
    }
  }
}

/** Ranks the players of a build, step by step. */
async function rank(
  { generations }: Pick<ReconcilerParts, 'generations'>,
  { lease, shadow, catchUp, progress }: ShadowWork,
): Promise<void> {
  let players = 0;
  let cursor: RankingCursor | undefined;
  do {
    const step = await catchUp.retry(() => generations.rank(lease, shadow, cursor));
    players += step.players;
    if (players > 0) progress.setPlaces('ranked', players);
    await catchUp.waitForThrottle(step.players);
    cursor = step.next;
  } while (cursor !== undefined);
}

/**
 * Writes a definition record. Only logs a failure, as Redis has changed already: the role
 * reconciliation writes the record later.
 */
export async function recordDefinition(
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
      `board "${board}": ${what} is not written to Kafka yet (${why}); the role ` +
        'reconciliation writes it, and has to run somewhere',
    );
  }
}
