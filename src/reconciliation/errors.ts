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
    readonly board: string,
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
    super(
      `events of board "${board}" are gone from the log (${cuts.join(', ')}), so what it was made of can't be read again${hint}`,
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

/**
 * A live watermark, or even the last applied record, lies beyond the end of the log: events that come next would be taken for
 * applied ones. A watermark that was moved is mended by a build; a log that lacks what was applied is another one.
 */
export class WatermarkBeyondLogError extends Error {
  constructor(
    readonly board: string,
    readonly partitions: readonly { partition: number; watermark: number; logEnd: number }[],
    readonly isOtherLog: boolean,
  ) {
    const places = partitions.map(
      ({ partition, watermark, logEnd }) =>
        `partition ${partition}: applied up to ${watermark}, the log ends at ${logEnd}`,
    );
    const why = isOtherLog
      ? 'the topic was made anew, or has lost records; docs/operations.md has the way out'
      : 'they were moved; "ranklog boards rebuild" puts them right';
    super(`the watermarks of board "${board}" lie beyond the log (${places.join(', ')}): ${why}`);
    this.name = 'WatermarkBeyondLogError';
  }
}

/** A live watermark was moved by hand while a run relied on it. A build and a comparison begin again with looking at that. */
export class WatermarkMovedError extends Error {
  constructor(readonly board: string) {
    super(
      `a live watermark that board "${board}" relies on was moved by hand; "ranklog boards rebuild" puts it right`,
    );
    this.name = 'WatermarkMovedError';
  }
}
