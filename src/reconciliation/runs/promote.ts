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
import type { ShadowAtWork } from './log-pass.js';
import { settleRecords, takeOverRecords } from './player-records.js';
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
 * Catches the shadow up. The call that reaches the live applied offsets also makes it live. Then
 * records the definition.
 */
export async function promote(parts: ReconcilerParts, at: ShadowAtWork): Promise<PromotionReport> {
  const { generations, graceMs } = parts;
  const { lease, shadow, catchUp, signal } = at;
  const { board, generation, definition, starts } = shadow;
  const takeOver = () => catchUp.withRetries(() => takeOverRecords(parts, lease, shadow));
  let takenOver = await takeOver();
  const goLive = () => {
    const options = { graceMs, takenOver };
    return catchUp.reach((stretches) => generations.promote(lease, shadow, stretches, options));
  };
  let promotion = await goLive();
  // Redis answers UNRANKED until all players of a build are ranked. If it restarts meanwhile, the
  // ranking ends early, and Redis answers UNRANKED again. UNSETTLED: player records came after the
  // ranking had begun. MISSED: live ingest has applied some that the shadow does not read.
  while (promotion === UNRANKED || promotion === UNSETTLED || promotion === MISSED) {
    if (promotion === UNSETTLED) await settleRecords(parts, at);
    else takenOver = await takeOver();
    if (promotion === UNRANKED) await rank(parts, at);
    promotion = await goLive();
  }
  const made = { board, generation, ...(starts && { starts }) };
  await recordDefinition(parts, { ...made, since: promotion.since, definition }, signal);
  return { ...made, ...promotion };
}

/** Ranks the players of a build, step by step. */
async function rank(
  { generations }: Pick<ReconcilerParts, 'generations'>,
  { lease, shadow, catchUp, progress }: ShadowAtWork,
): Promise<void> {
  let players = 0;
  let cursor: RankingCursor | undefined;
  do {
    const step = await catchUp.withRetries(() => generations.rank(lease, shadow, cursor));
    players += step.players;
    if (players > 0) progress.setPlaces('ranked', players);
    await catchUp.throttle(step.players);
    cursor = step.next;
  } while (cursor !== undefined);
}

/**
 * Writes a definition record. A failure is only logged, as Redis has changed already: the role
 * reconciliation writes it later.
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
