import { RanklogError } from '#errors';

/**
 * The board in Redis lacks events, or may lack some. Its results can't be announced until ranklog
 * has applied them again.
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

/** There is nothing to announce yet. The message says what the announcer waits for. */
export class PeriodsWaitError extends RanklogError {
  override readonly retriable = true;
}
