/** Results that were deleted before the group read them: the offsets `from` to `to` - 1 of a partition. */
export interface ResultGap {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** An error of this library. Not `retriable`: the same call fails again. */
abstract class ClientError extends Error {
  abstract readonly code: string;
  readonly retriable = false;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Ranklog would refuse the score event. `code` and `detail` are those of the dead letter that it would write. */
export class InvalidScoreEventError extends ClientError {
  constructor(
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

export class SubscriberUsedError extends ClientError {
  readonly code = 'SUBSCRIBER_USED';

  constructor(
    readonly groupId: string,
    state: 'started' | 'stopped',
  ) {
    super(
      `this subscriber of group ${groupId} was ${state} before, and a subscriber starts once: ` +
        'create another one with the same group, which continues where this one ended',
    );
  }
}

export class ResultGapError extends ClientError {
  readonly code = 'RESULT_GAP';

  constructor(
    readonly groupId: string,
    readonly gap: ResultGap,
  ) {
    super(
      `group ${groupId} must continue at offset ${gap.from} of ${gap.topic}/${gap.partition}, which starts at ${gap.to}: ` +
        'the results in between were deleted before they were read. To skip them, give the subscriber onGap',
    );
  }
}

/** The topic ends below the group's offset. */
export class ResultTopicReplacedError extends ClientError {
  readonly code = 'RESULT_TOPIC_REPLACED';

  constructor(
    readonly groupId: string,
    readonly at: { readonly topic: string; readonly partition: number; readonly position: number },
    readonly end: number,
  ) {
    super(
      `group ${groupId} must continue at offset ${at.position} of ${at.topic}/${at.partition}, which ends at ${end}: ` +
        'the topic was recreated or restored from a backup. Subscribe with another group, or delete this group',
    );
  }
}

/** A record of a result topic is not a result. `cause` has the reason. */
export class UnreadableResultError extends ClientError {
  readonly code = 'UNREADABLE_RESULT';

  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    cause: unknown,
  ) {
    super(
      `cannot read the record at offset ${offset} of ${topic}/${partition}: ` +
        `${cause instanceof Error ? cause.message : String(cause)}. Did another version or program write it?`,
      { cause },
    );
  }
}
