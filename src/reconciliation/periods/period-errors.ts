import { RanklogError } from '#errors';

/** Redis lacks events of a board, or may lack some: its results must not be announced now. */
export class StaleBoardError extends RanklogError {
  override readonly retriable = true;

  constructor(board: string) {
    super(
      `reads of board "${board}" are stale: Redis lacks events, or may lack some, until they ` +
        'are applied again; "ranklog status" shows the progress',
    );
  }
}

/** Nothing can be announced yet. The message says what the announcer waits for. */
export class PeriodsWaitError extends RanklogError {
  override readonly retriable = true;
}
