// To add an error of Kafka: add its class here. src/query/http/problems.ts answers it over HTTP,
// src/cli/text/failures.ts has its exit code.

import kafkajs from 'kafkajs';
import { RanklogError, toError } from '#errors';
import type { FoundBatch, GroupFacts, LogRange } from './types.js';

const { KafkaJSConnectionError, KafkaJSError, KafkaJSNumberOfRetriesExceeded, KafkaJSTimeout } =
  kafkajs;

/**
 * A restart does not help: the partition stops until an operator acts. Other partitions continue.
 */
export class PermanentPartitionError extends RanklogError {}

/** The log was cut, recreated or restored, so that reading on would skip events. */
export class WrongLogError extends PermanentPartitionError {
  constructor(problem: string) {
    super(
      `${problem}. This partition stops so that no event is skipped; the others continue; ` +
        'for what to do see "A partition stops for its log" in docs/operations.md',
    );
  }
}

export class LogGapError extends WrongLogError {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly expected: number,
    readonly log: LogRange,
  ) {
    super(
      `${topic}/${partition} must continue at offset ${expected}, but the log starts at ` +
        `${log.start} and ends at ${log.end}: its history was cut, or the topic was recreated`,
    );
  }
}

/** A batch that can't be decoded, or is too large decompressed. Earlier records were delivered. */
export class UnreadableBatchError extends PermanentPartitionError {
  constructor(
    readonly batch: FoundBatch,
    override readonly cause: Error,
  ) {
    const { topic, partition, first, last } = batch;
    super(
      `${topic}/${partition} cannot be read from offset ${first} to ${last}: these records are ` +
        `${cause.message}. This partition stops so that no event is skipped; the others ` +
        'continue. To give these records up and go on behind them: ranklog skip ' +
        `${topic}/${partition}/${first}-${last}; see "A batch that cannot be read" in ` +
        'docs/operations.md',
      { cause },
    );
  }
}

/** Kafka refused a record for its size. The transaction was aborted. */
export class RecordTooLargeError extends PermanentPartitionError {
  constructor(cause: unknown) {
    super('Kafka refuses a record for its size; raise max.message.bytes of its topic', { cause });
  }
}

export class KafkaUnreachableError extends RanklogError {
  override readonly retriable = true;

  constructor(timeoutMs: number, cause: unknown) {
    super(`Kafka did not answer within ${timeoutMs} ms: ${toError(cause).message}${hint(cause)}`, {
      cause,
    });
  }
}

/** What to do about a broker that can't be reached; empty for other errors. */
function hint(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof KafkaJSConnectionError)
      return `. Is Kafka running at ${cause.broker}? Else correct the brokers of the Kafka client`;
  return '';
}

/** Topics of ranklog do not exist, or this user may not see them. */
export class TopicsMissingError extends RanklogError {
  constructor(readonly topics: readonly string[]) {
    super(
      `there is no topic ${topics.join(', ')}; create what is missing with "ranklog topics", ` +
        'unless the topic prefix is wrong',
    );
  }
}

/**
 * Kafka does not admit this process to the consumer group, because the members of the group assign
 * partitions by another protocol.
 */
export class GroupRefusedError extends RanklogError {
  constructor(readonly group: GroupFacts) {
    super(
      `consumer group ${group.groupId} is in use by others (protocol ` +
        `${group.protocol || 'unknown'}): ${membersText(group)}`,
    );
  }
}

/**
 * Members of the group read other topics. Kafka lets one member assign the partitions. With the
 * protocol of kafkajs, this member assigns the partitions of its own topics to all members. If it
 * reads other topics than this process, no member reads the partitions that it assigns to this one.
 */
export class OtherTopicsError extends RanklogError {
  constructor(groupId: string, topic: string, others: readonly string[]) {
    super(
      `consumer group ${groupId} has members that read ${others.join(', ')} beside this one, ` +
        `which reads ${topic}`,
    );
  }
}

/** The members of a group and the topics that they read, for error texts. */
export function membersText({ members }: GroupFacts): string {
  const topics = [...new Set(members.flatMap((member) => member.topics))];
  const reading = topics.length === 0 ? '' : `, reading ${topics.join(', ')}`;
  const ids = members.map(({ memberId, host }) => `${memberId} at ${host.replace('/', '')}`);
  return ids.join(', ') + reading;
}

/** Another publisher has the transactional id. Readers see nothing of the failed transaction. */
export class ProducerFencedError extends RanklogError {
  override readonly retriable = true;

  constructor(transactionalId: string, cause: unknown) {
    super(`another publisher took over the transactional id ${transactionalId}`, { cause });
  }
}

/**
 * The transaction may or may not be committed. To learn which, open another publisher, which
 * completes the transaction, and then read the group's offset.
 */
export class PublishOutcomeUnknownError extends RanklogError {
  override readonly retriable = true;

  constructor(transactionalId: string, cause: unknown) {
    const { message } = toError(cause);
    super(`the outcome of a transaction of ${transactionalId} is unknown: ${message}`, { cause });
  }
}

/**
 * Another producer has the transactional id now. kafkajs takes the names of error types from older
 * versions of the protocol.
 */
export const isFenced = hasType(
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
);

/** The members of the group use other protocols than this process. */
export const isGroupRefused = hasType('INCONSISTENT_GROUP_PROTOCOL');

export const isUnknownTopic = hasType('UNKNOWN_TOPIC_OR_PARTITION');

/** The broker that was asked does not lead the partition, or cannot act as its leader yet. */
export const isNotLeader = hasType('NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE');

/** The user lacks a right to the topic. */
export const isUnauthorized = hasType('TOPIC_AUTHORIZATION_FAILED');

export const isTooLarge = hasType('MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE');

/** The coordinator is still completing the previous transaction. */
export const isConcurrent = hasType('CONCURRENT_TRANSACTIONS');

/** The coordinator did not execute the request; send it again. */
export const isBusy = hasType(
  'CONCURRENT_TRANSACTIONS',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
);

/** kafkajs marks these errors as not retriable, although a retry can succeed. */
const isTransient = hasType(
  'UNKNOWN',
  'KAFKAJS_UNKNOWN_ERROR_CODE',
  'OFFSET_OUT_OF_RANGE',
  'BROKER_NOT_AVAILABLE',
);

/** Whether a retry would fail again, as with a missing right, a missing codec, or a bug. */
export function isPermanent(error: unknown): boolean {
  let root = error;
  while (root instanceof KafkaJSNumberOfRetriesExceeded && root.cause !== undefined)
    root = root.cause;
  if (!(root instanceof KafkaJSError)) return true;
  return !root.retriable && !(root instanceof KafkaJSTimeout) && !isTransient(root);
}

/** Returns a check: whether an error of kafkajs, or one of its causes, has one of these types. */
function hasType(...types: readonly unknown[]): (error: unknown) => boolean {
  return (error) => {
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      if ('type' in cause && types.includes(cause.type)) return true;
    return false;
  };
}
