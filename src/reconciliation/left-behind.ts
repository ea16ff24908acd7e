import type { GenerationStore, Shadow } from '#board-store';
import type { Log } from './log.js';

type Shadows = Pick<GenerationStore, 'shadow'>;

/** What a killed build or snapshot has left of a board, so that the next one may go on with it. */
export async function leftBehind(generations: Shadows, board: string): Promise<Shadow | undefined> {
  const shadow = await generations.shadow(board);
  return shadow?.purpose === 'build' || shadow?.purpose === 'snapshot' ? shadow : undefined;
}

/** A board has one shadow: tells that another one takes the place of what was left. */
export async function tellGivenUp(
  { generations, logger }: { readonly generations: Shadows; readonly logger: Log },
  board: string,
  taker: string,
): Promise<void> {
  const left = await leftBehind(generations, board);
  if (left === undefined) return;
  logger.warn(
    `board "${board}": what a killed ${left.purpose} had built (generation ${left.generation}) is given up for this ${taker}`,
  );
}
