import { RanklogError } from '#errors';

/**
 * Redis lacks events of a board, or may lack some: what is read of it now must not be announced.
 */
export class StaleBoardError extends RanklogError {
  override readonly retriable = true;

  constructor(board: string) {
    super(
      `reads of board "${board}" are stale: Redis lacks events, or may lack some, until they ` +
        'are applied again; "ranklog status" shows the progress',
    );
  }
}

/** Nothing can be announced yet. The message says for what the announcer waits. */
export class PeriodsWaitError extends RanklogError {
  override readonly retriable = true;
}
