import { formatTime } from '#board';

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
      `board "${board}" has no generation ${generation} to read: the live one and snapshots are, and "ranklog boards generations" lists them`,
    );
    this.name = 'UnknownGenerationError';
  }
}

/** A listing of views cannot continue. Trying again helps. */
export class ListingInterruptedError extends Error {
  constructor(readonly board: string) {
    super(
      `cannot finish listing the views of board "${board}": another generation went live, or another Redis server answers, since the listing began; list them again`,
    );
    this.name = 'ListingInterruptedError';
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

/** Somebody else reconciles the board. Trying again helps, once that is done. */
export class LeaseHeldError extends Error {
  readonly holder: string;
  /** For so long the lease is held at least, unless it is renewed. */
  readonly msLeft: number;

  constructor(
    readonly board: string,
    { holder, msLeft }: { holder: string; msLeft: number },
  ) {
    super(
      `board "${board}" is being reconciled by ${holder}; one at a time: wait for it ("ranklog status" shows how far it is), ` +
        `or end it. One that was killed is out of the way within ${Math.ceil(msLeft / 1_000)} s`,
    );
    this.name = 'LeaseHeldError';
    this.holder = holder;
    this.msLeft = msLeft;
  }
}

/** The lease of a board has run out, or Redis has lost it: nothing was written since. Starting anew helps, unless another's work stands. */
export class LeaseLostError extends Error {
  constructor(
    readonly board: string,
    /** Who has worked on the board since, if anybody has. */
    readonly takenOverBy?: string,
  ) {
    super(
      takenOverBy === undefined
        ? `the lease of board "${board}" was lost: this process stood still, or Redis lost it; start again`
        : `the lease of board "${board}" expired while this process stood still, and ${takenOverBy} took over; its result is kept`,
    );
    this.name = 'LeaseLostError';
  }
}

/** There is nothing to roll back to. */
export class NoPreviousGenerationError extends Error {
  constructor(readonly board: string) {
    super(
      `board "${board}" has no previous generation to go back to: none was live before, or its grace time (RANKLOG_ROLLBACK_GRACE) is over`,
    );
    this.name = 'NoPreviousGenerationError';
  }
}

/** Whether Redis has refused a command, or a script, as its memory is full. What was refused wrote nothing. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('OOM ');
}
