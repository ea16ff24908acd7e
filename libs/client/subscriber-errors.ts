/** A partition of a result topic, and a span of it that is gone: offsets from `from` up to, without, `to`. */
export interface ResultGap {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** The results that come next are not in the topic any more. Starting again gives the same error. */
export class ResultGapError extends Error {
  constructor(
    readonly groupId: string,
    readonly gap: ResultGap,
  ) {
    super(
      `group ${groupId} has to go on at offset ${gap.from} of ${gap.topic}/${gap.partition}, which begins at ${gap.to}: ` +
        'the results between them were deleted before they were read. Give the subscriber onGap to go on behind them',
    );
    this.name = 'ResultGapError';
  }
}

/** The topic ends before the group's position: what was read is no part of it. Starting again gives the same error. */
export class ResultTopicReplacedError extends Error {
  constructor(
    readonly groupId: string,
    readonly at: { readonly topic: string; readonly partition: number; readonly position: number },
    readonly end: number,
  ) {
    super(
      `group ${groupId} has to go on at offset ${at.position} of ${at.topic}/${at.partition}, which ends at ${end}: ` +
        'it was made anew, or restored from a backup. Subscribe with another group, or delete this one',
    );
    this.name = 'ResultTopicReplacedError';
  }
}

/** A record of a result topic is none; `cause` says why. Starting again gives the same error. */
export class UnreadableResultError extends Error {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    cause: unknown,
  ) {
    super(
      `the record at offset ${offset} of ${topic}/${partition} can't be read: ` +
        `${cause instanceof Error ? cause.message : String(cause)}. Was it written by another version, or by something else?`,
      { cause },
    );
    this.name = 'UnreadableResultError';
  }
}
