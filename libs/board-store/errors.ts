import { formatTime } from '#contracts';

/** Another number of shards than the one the boards were made with: their events would be looked for elsewhere. */
export class ShardCountError extends Error {
  constructor(
    readonly configured: number,
    readonly stored: number,
  ) {
    super(
      `the boards in Redis were made with ${stored} shard(s), the settings say ${configured}; set RANKLOG_SHARDS=${stored}, or use another RANKLOG_REDIS_PREFIX to start anew`,
    );
    this.name = 'ShardCountError';
  }
}

/** A read of a board that has no live generation yet. Trying again helps, once it is built. */
export class BoardBuildingError extends Error {
  constructor(readonly board: string) {
    super(
      `board "${board}" is being built from the log and can't be read yet; "ranklog status" shows how far it is, ` +
        'and the role reconciliation has to run somewhere',
    );
    this.name = 'BoardBuildingError';
  }
}

/** A generation that is no snapshot of the board, or not any more. */
export class UnknownGenerationError extends Error {
  constructor(
    readonly board: string,
    readonly generation: string,
  ) {
    super(
      `board "${board}" has no generation ${generation} to read; "ranklog boards generations" lists them`,
    );
    this.name = 'UnknownGenerationError';
  }
}

/** A read of a board that has no live generation. */
export class UnknownBoardError extends Error {
  constructor(
    readonly board: string,
    readonly known: readonly string[],
  ) {
    super(
      `there is no board "${board}"; ${known.length === 0 ? 'no board is live' : `live boards: ${known.join(', ')}`}`,
    );
    this.name = 'UnknownBoardError';
  }
}

/** A read of a view that was there once, or could have been: it does not come back. Times in ms of event time. */
export class ExpiredViewError extends Error {
  constructor(
    readonly board: string,
    readonly view: string,
    readonly expiresAt: number,
    readonly clock: number,
  ) {
    super(
      `view "${view}" of board "${board}" has expired: it was kept until ${formatTime(expiresAt)}, and the board's events have come to ${formatTime(clock)}`,
    );
    this.name = 'ExpiredViewError';
  }
}
