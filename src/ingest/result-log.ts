import type { Admin, Kafka } from 'kafkajs';
import type { Verdict } from '#board-store';
import { topicNames, type TopicNames } from '#contracts';
import {
  committedOffset,
  lastCommittedRecord,
  logRange,
  partitionCount,
  PermanentPartitionError,
  TransactionalPublisher,
  type KafkaRecord,
} from '#kafka-batch';
import type { Publication } from './publish-pipeline.js';
import type { ReadRecord } from './read-record.js';
import { causeOffset, encodeResult } from './results.js';

/** A result topic lacks the partition that results of an input partition go to. Stops that partition; the others go on. */
export class ResultPartitionMissingError extends PermanentPartitionError {
  constructor(topic: string, partition: number, count: number) {
    super(
      `topic ${topic} has ${count} partition(s), so results of partition ${partition} have no place; run "ranklog topics", which adds partitions, then start again`,
    );
  }
}

/**
 * The result topics and the published position: everything of ingest that is kept in Kafka.
 * Results of input partition p go to partition p of the result topics, which one transactional producer at a time writes.
 */
export class ResultLog {
  readonly #topics: TopicNames;

  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly names: { topicPrefix: string; group: string },
  ) {
    this.#topics = topicNames(names.topicPrefix);
  }

  /** @throws ResultPartitionMissingError */
  async checkPartition(partition: number): Promise<void> {
    for (const topic of this.#resultTopics) {
      const count = await partitionCount(this.admin, topic);
      if (count <= partition) throw new ResultPartitionMissingError(topic, partition, count);
    }
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
    const { scoreEvents } = this.#topics;
    const [committed, ...last] = await Promise.all([
      committedOffset(this.admin, this.names.group, scoreEvents, partition),
      ...this.#resultTopics.map((topic) => lastCommittedRecord(this.kafka, topic, partition)),
    ]);
    return Math.max(committed ?? 0, ...last.map((record) => this.#nextToCause(partition, record)));
  }

  /** The first offset that the score topic still holds. */
  async logStart(partition: number): Promise<number> {
    return (await logRange(this.admin, this.#topics.scoreEvents, partition)).start;
  }

  /** The message that reports a verdict. */
  encode(partition: number, verdict: Verdict, read: ReadRecord) {
    return encodeResult(this.#topics, partition, verdict, read);
  }

  /** Results and position in one transaction: both are visible, or neither. */
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
      }))
      .filter(({ messages }) => messages.length > 0);
    const { scoreEvents } = this.#topics;
    const offset = { groupId: this.names.group, topic: scoreEvents, partition, offset: nextOffset };
    await publisher.publish({ records, offset });
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
