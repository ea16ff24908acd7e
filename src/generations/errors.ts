import { LeaseLostError, type ServerMemory, type ShadowRefusal } from '#board-store';

/** Events that a run needs and the log does not hold any more. */
export interface CutPartition {
  readonly partition: number;
  /** The first offset that is needed. */
  readonly from: number;
  /** The first offset that the log holds. */
  readonly logStart: number;
}

/** The log lacks events that a board is made of. Trying again does not help. */
export class HistoryCutError extends Error {
  constructor(
    /** Several where it was cut while it was read: one of them, or more. */
    readonly boards: readonly string[],
    readonly partitions: readonly CutPartition[],
    /** What of the log there is may be taken instead. */
    readonly mayBePartial: boolean,
  ) {
    const cuts = partitions.map(
      ({ partition, from, logStart }) => `partition ${partition}: ${from} to ${logStart - 1}`,
    );
    const hint = mayBePartial
      ? '; --allow-partial-history takes what there is, and says so in every status'
      : '';
    const names = boards.map((board) => `"${board}"`).join(', ');
    super(
      `events of board ${names} are gone from the log (${cuts.join(', ')}), so what it was made of can't be read again${hint}`,
    );
    this.name = 'HistoryCutError';
  }
}

/** The run was ended from outside: all is as it was before, but for what was built, if that is kept for the next run. */
export class CancelledError extends Error {
  constructor(readonly isKept: boolean) {
    super(
      isKept
        ? 'stopped; what was built so far is kept'
        : 'cancelled; everything is as it was before',
    );
    this.name = 'CancelledError';
  }
}

/** Redis has lost events of a shadow, or all of it. Beginning again helps. */
export class ShadowLostError extends Error {
  constructor(readonly board: string) {
    super(`Redis has lost what was built of board "${board}"`);
    this.name = 'ShadowLostError';
  }
}

/** Redis has lost its boards, and they are not registered again yet. Trying again helps, once that is done. */
export class BoardsLostError extends Error {
  constructor() {
    super(
      'Redis has lost its boards; the role reconciliation brings them back, and has to run somewhere',
    );
    this.name = 'BoardsLostError';
  }
}

/** The live generation of a board was changed by another while a run relied on it. Beginning again helps. */
export class LiveGenerationChangedError extends Error {
  constructor(readonly board: string) {
    super(`the live generation of board "${board}" changed meanwhile`);
    this.name = 'LiveGenerationChangedError';
  }
}

/** A live applied offset lies beyond the end of the log: the log lacks what was applied, so it is another one. */
export class AppliedBeyondLogError extends Error {
  constructor(
    readonly board: string,
    readonly partitions: readonly { partition: number; appliedOffset: number; logEnd: number }[],
  ) {
    const places = partitions.map(
      ({ partition, appliedOffset, logEnd }) =>
        `partition ${partition}: applied up to ${appliedOffset}, the log ends at ${logEnd}`,
    );
    super(
      `the applied offsets of board "${board}" lie beyond the log (${places.join(', ')}): the topic was made anew, or has lost records; ` +
        'see "A partition stops for its log" in docs/operations.md',
    );
    this.name = 'AppliedBeyondLogError';
  }
}

/**
 * Redis was restarted, or a replica took over, while a board was compared: how far the comparison was means nothing to the
 * server that holds the board now. Beginning again helps.
 */
export class ServerChangedError extends Error {
  constructor(readonly board: string) {
    super(
      `the comparison of board "${board}" began on another server of Redis: it was restarted, or a replica took over`,
    );
    this.name = 'ServerChangedError';
  }
}

/** Redis has no room for a second generation beside the live one. Trying again helps once there is more. */
export class OutOfMemoryError extends Error {
  constructor(
    readonly boards: readonly string[],
    readonly memory?: ServerMemory,
  ) {
    const names = boards.map((board) => `"${board}"`).join(', ');
    const numbers =
      memory && ` (maxmemory ${megabytes(memory.most)}, used ${megabytes(memory.used)})`;
    super(
      `Redis is full${numbers ?? ''}: not enough memory for a second generation of ${names}; it was cancelled to free memory for live events. ` +
        'A build, a verify or a snapshot takes about as much memory as the live board: raise maxmemory, or discard a generation ' +
        '("ranklog boards generations" lists them, "ranklog boards discard" removes a snapshot or what a killed build has left); then start again',
    );
    this.name = 'OutOfMemoryError';
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** Why the shadow of a board can't be gone on with, as the store said it. */
export function refusal(board: string, status: ShadowRefusal): Error {
  if (status === 'leaseLost') return new LeaseLostError(board);
  if (status === 'generationChanged') return new LiveGenerationChangedError(board);
  if (status === 'serverChanged') return new ServerChangedError(board);
  return new ShadowLostError(board);
}
