import type { Admin, Kafka } from 'kafkajs';
import type { Verdict } from '#board-store';
import { topicNames, type TopicNames } from '#contracts';
import {
  Batched,
  committedOffsets,
  lastCommittedRecord,
  partitionCount,
  PermanentPartitionError,
  RecordTooLargeError,
  TransactionalPublisher,
  type KafkaRecord,
} from '#kafka-batch';
import { maxMessageBytes } from '../infra/topics.js';
import type { Publication } from './publish-pipeline.js';
import type { ReadRecord } from './read-record.js';
import { causeOffset, encodeResult } from './results.js';

/** A result topic lacks the partition that results of an input partition go to. That one waits; the others go on. */
export class ResultPartitionMissingError extends Error {
  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly count: number,
  ) {
    super(
      `topic ${topic} has ${count} partition(s), so results of partition ${partition} have no place; run "ranklog topics", which makes topics and adds partitions: this partition waits for it`,
    );
    this.name = 'ResultPartitionMissingError';
  }
}

/** A result topic has come to take less than at the start of the partition. Starting again helps: it is cut to measure then. */
export class ResultLimitChangedError extends Error {
  constructor(limits: string, cause: Error) {
    super(
      `max.message.bytes of a result topic has changed (now ${limits}); starting anew with it`,
      {
        cause,
      },
    );
    this.name = 'ResultLimitChangedError';
  }
}

/** A result is larger than its topic takes. Nothing of its transaction is visible; the outbox keeps it. */
export class ResultTooLargeError extends PermanentPartitionError {
  constructor(limits: string, cause: Error) {
    super(
      `Kafka refuses a result for its size (${limits}); raise max.message.bytes of the topic, then start again: nothing is lost meanwhile`,
      { cause },
    );
  }
}

/** A broker takes requests of 100 MiB (socket.request.max.bytes), whatever the topic says. */
const MOST_REQUEST_BYTES = 64 * 1_024 * 1_024;

/** What Kafka adds to the records of a batch, which max.message.bytes bounds as a whole. */
const BATCH_ROOM = 100;

/** max.message.bytes by topic. */
type Limits = ReadonlyMap<string, number>;

/**
 * The result topics and the published position: everything of ingest that is kept in Kafka.
 * Results of input partition p go to partition p of the result topics, which one transactional producer at a time writes.
 */
export class ResultLog {
  readonly #topics: TopicNames;
  /** By partition: max.message.bytes of each result topic, as of its start. */
  readonly #limits = new Map<number, Limits>();
  readonly #committed = new Batched<number, number>(() =>
    committedOffsets(this.admin, this.names.group, this.#topics.scoreEvents),
  );
  readonly #maxBytes = new Batched((topics: readonly string[]) => this.#readMaxBytes(topics));

  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly names: { topicPrefix: string; group: string },
  ) {
    this.#topics = topicNames(names.topicPrefix);
  }

  /** Sees that the results of a partition have a place, and how large they may be. @throws ResultPartitionMissingError */
  async checkPartition(partition: number): Promise<void> {
    const hasPlace = async (topic: string) => {
      const count = await partitionCount(this.kafka, topic);
      if (count <= partition) throw new ResultPartitionMissingError(topic, partition, count);
    };
    await Promise.all(this.#resultTopics.map(hasPlace));
    this.#limits.set(partition, await this.#readLimits());
  }

  /** Fences every earlier publisher of the partition: from now on none of them can commit. */
  openPublisher(partition: number): Promise<TransactionalPublisher> {
    const transactionalId = `${this.names.group}-${this.#topics.scoreEvents}-${partition}`;
    return TransactionalPublisher.open({ kafka: this.kafka, transactionalId });
  }

  /**
   * The first offset whose results are not in Kafka, for a partition that is fenced. The committed offset alone could
   * be late: a broker may show the offset of a finished transaction after its records.
   */
  async publishedPosition(partition: number): Promise<number> {
    const [committed, ...last] = await Promise.all([
      this.#committed.get(partition),
      ...this.#resultTopics.map((topic) => lastCommittedRecord(this.kafka, topic, partition)),
    ]);
    return Math.max(committed ?? 0, ...last.map((record) => this.#nextToCause(partition, record)));
  }

  /** The message that reports a verdict. */
  encode(partition: number, verdict: Verdict, read: ReadRecord) {
    const topics = this.#topics;
    const mostDeadLetterBytes = this.#limit(partition, topics.deadLetters);
    return encodeResult({ topics, partition, mostDeadLetterBytes }, verdict, read);
  }

  /**
   * Results and position in one transaction: both are visible, or neither.
   * @throws ResultLimitChangedError, ResultTooLargeError, and what TransactionalPublisher.publish throws
   */
  async publish(
    publisher: TransactionalPublisher,
    partition: number,
    { results, nextOffset }: Publication,
  ): Promise<void> {
    const records = this.#resultTopics
      .map((topic) => ({
        topic,
        partition,
        messages: results.filter((result) => result.topic === topic).map(({ message }) => message),
        mostBytes: this.#limit(partition, topic) - BATCH_ROOM,
      }))
      .filter(({ messages }) => messages.length > 0);
    const { scoreEvents } = this.#topics;
    const offset = { groupId: this.names.group, topic: scoreEvents, partition, offset: nextOffset };
    try {
      await publisher.publish({ records, offset });
    } catch (error) {
      throw error instanceof RecordTooLargeError
        ? await this.#sizeProblem(partition, error)
        : error;
    }
  }

  /** Results are made for the limits of the start: while those hold, only one that can't be made smaller is refused. */
  async #sizeProblem(partition: number, cause: RecordTooLargeError): Promise<Error> {
    const before = this.#limits.get(partition);
    const now = await this.#readLimits();
    const changed = this.#resultTopics.some((topic) => now.get(topic) !== before?.get(topic));
    const limits = [...now].map(([topic, bytes]) => `${topic} takes ${bytes} bytes`).join(', ');
    return changed
      ? new ResultLimitChangedError(limits, cause)
      : new ResultTooLargeError(limits, cause);
  }

  #limit(partition: number, topic: string): number {
    return Math.min(this.#limits.get(partition)?.get(topic) ?? Infinity, MOST_REQUEST_BYTES);
  }

  async #readLimits(): Promise<Limits> {
    const read = async (topic: string) =>
      [topic, (await this.#maxBytes.get(topic)) ?? Infinity] as const;
    return new Map(await Promise.all(this.#resultTopics.map(read)));
  }

  async #readMaxBytes(topics: readonly string[]): Promise<Limits> {
    const read = async (topic: string) =>
      [topic, await maxMessageBytes(this.admin, topic)] as const;
    return new Map(await Promise.all(topics.map(read)));
  }

  get #resultTopics(): string[] {
    return [this.#topics.rankChanges, this.#topics.leaderChanges, this.#topics.deadLetters];
  }

  #nextToCause(partition: number, record: KafkaRecord | undefined): number {
    if (record === undefined) return 0;
    const cause = causeOffset(record, this.#topics.scoreEvents, partition);
    return cause === undefined ? 0 : cause + 1;
  }
}
