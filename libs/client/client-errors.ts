import { wayOutOf, type ScoreEvent, type Source } from '#contracts';
import { RanklogError, toError } from '#errors';
import { membersText, OtherTopicsError, type GroupRefusedError } from '#kafka-batch';

/** Results that were deleted before the group read them: offsets `from` to `to` - 1. */
export interface ResultGap {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The place of a score event in the list that was given to `send`; index 0 for the event of
 * `sendAndWait`.
 */
export interface EventPosition {
  readonly topic: string;
  readonly index: number;
  readonly playerId: unknown;
}

/**
 * Ranklog would refuse the score event. Its dead letter would have this `code` and `detail`. An
 * error of `toMessage` may have no `position`.
 */
export class InvalidScoreEventError extends RanklogError {
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly position?: EventPosition,
  ) {
    super(
      position === undefined
        ? `${code}: ${detail}`
        : `${code}: ${detail} in event ${position.index} (player ` +
            `${JSON.stringify(position.playerId)}) ` +
            `for ${position.topic}; no event was sent. ${wayOutOf(code)}`,
    );
  }
}

/**
 * Ranklog would refuse a ban, unban or erasure. No record was sent. `index` is its place in the
 * list.
 */
export class InvalidPlayerRecordError extends RanklogError {
  readonly code = 'INVALID_PLAYER_RECORD';

  constructor(
    readonly index: number,
    readonly problem: string,
  ) {
    super(`${problem} in record ${index}; no record was sent`);
  }
}

/** Kafka did not acknowledge all messages. `cause` is the error of kafkajs. */
export class SendError extends RanklogError {
  readonly code = 'SEND_FAILED';

  /**
   * @param first the first message that was not acknowledged: its index, and its key, the player
   */
  constructor(
    readonly topic: string,
    readonly first: { readonly index: number; readonly playerId: string },
    readonly acknowledged: number,
    cause: unknown,
  ) {
    super(
      `sending to ${topic} failed at event ${first.index} (player ${first.playerId}), ` +
        `${acknowledged} events are acknowledged: ${toError(cause).message}. Kafka may have ` +
        'others too. Send the rest again; with the same eventId, boards with `deduplicate` ' +
        'drop what arrives twice',
      { cause },
    );
  }
}

/** A transaction failed: Kafka has all of its score events or none. `cause` is the error. */
export class TransactionFailedError extends RanklogError {
  readonly code = 'TRANSACTION_FAILED';

  constructor(
    readonly topic: string,
    cause: unknown,
  ) {
    super(
      `a transaction of ${topic} failed: ${toError(cause).message}. Kafka has all of its ` +
        'events or none. Send all of them again; with the same eventId, boards with ' +
        '`deduplicate` drop what arrives twice',
      { cause },
    );
  }
}

/**
 * The outcome of a score event, or of a ban, could not be read, though it may exist. If `at` has an
 * offset, Kafka has the record.
 */
export class ResultUnknownError extends RanklogError {
  readonly code = 'RESULT_UNKNOWN';

  constructor(
    readonly at: Pick<Source, 'topic'> & Partial<Source>,
    readonly event: Pick<ScoreEvent, 'board' | 'playerId'>,
    reason: string,
    options?: ErrorOptions,
  ) {
    const { topic, partition, offset } = at;
    const { board, playerId } = event;
    const place = offset === undefined ? topic : `${topic}/${partition ?? ''} at offset ${offset}`;
    super(
      `the outcome of the record in ${place} (board ${board}, player ${playerId}) is unknown: ` +
        `${reason}. ` +
        (offset === undefined
          ? 'Kafka has not acknowledged the record; it may have it nevertheless'
          : 'Kafka has the record, so do not send it again; `ranklog status` shows how far ' +
            'ranklog is behind'),
      options,
    );
  }
}

/** The board does not publish the requested results. */
export class NotPublishedError extends RanklogError {
  readonly code = 'NOT_PUBLISHED';
}

export class SubscriberUsedError extends RanklogError {
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

/** Members of the group read another topic: ranklog's ingest, or subscribers of another kind. */
export class GroupInUseError extends RanklogError {
  readonly code = 'GROUP_IN_USE';

  constructor(
    readonly groupId: string,
    cause: GroupRefusedError | OtherTopicsError,
  ) {
    super(groupInUseText(groupId, cause), { cause });
  }
}

function groupInUseText(groupId: string, cause: GroupRefusedError | OtherTopicsError): string {
  if (cause instanceof OtherTopicsError)
    return (
      `${cause.message}. Members of a group must read the same topic: give each kind of ` +
      'subscriber a group of its own, and tests another one than a running service'
    );
  return (
    `group ${groupId} belongs to other consumers, so this subscriber can't join it: ` +
    `${membersText(cause.group)}. Ranklog's ingest has a group of its own (RANKLOG_GROUP, the ` +
    'topic prefix by default): subscribe with another one'
  );
}

export class ResultGapError extends RanklogError {
  readonly code = 'RESULT_GAP';

  constructor(
    readonly groupId: string,
    readonly gap: ResultGap,
  ) {
    super(
      `group ${groupId} must continue at offset ${gap.from} of ${gap.topic}/${gap.partition}, ` +
        `which starts at ${gap.to}: the results in between were deleted before they were read. ` +
        'To skip them, give the subscriber onGap',
    );
  }
}

/** The topic ends below the group's offset. */
export class ResultTopicReplacedError extends RanklogError {
  readonly code = 'RESULT_TOPIC_REPLACED';

  constructor(
    readonly groupId: string,
    readonly at: { readonly topic: string; readonly partition: number; readonly position: number },
    readonly end: number,
  ) {
    super(
      `group ${groupId} must continue at offset ${at.position} of ${at.topic}/${at.partition}, ` +
        `which ends at ${end}: the topic was recreated or restored from a backup. Subscribe with ` +
        'another group, or delete this group',
    );
  }
}

/** A record of a result topic is not a result; a retry never helps. `cause` has the reason. */
export class UnreadableResultError extends RanklogError {
  readonly code = 'UNREADABLE_RESULT';

  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly offset: number,
    cause: unknown,
  ) {
    super(
      `cannot read the record at offset ${offset} of ${topic}/${partition}: ` +
        `${toError(cause).message}. Did another version or program write it? The policy \`skip\` ` +
        'goes on behind it',
      { cause },
    );
  }
}
