import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners, type Kafka, type Message, type Producer, type Transaction } from 'kafkajs';
import {
  isBusy,
  isFenced,
  isTooLarge,
  ProducerFencedError,
  PublishOutcomeUnknownError,
  RecordTooLargeError,
} from './errors.js';
import { perClient } from './batched.js';
import { BUSY_RETRY, BUSY_WAIT_MS } from './busy-retry.js';
import { createCluster, producerOn } from './cluster.js';
import { patchKafkajs } from './kafkajs-patches.js';
import { sendChunks } from './send-chunks.js';
import { SharedClusters, type Lease } from './shared-clusters.js';

/** Messages for one partition of a topic. */
export interface PartitionMessages {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly Message[];
  /** What one batch of the topic may hold, where that is less than a send has by default. */
  readonly mostBytes?: number;
}

/** The position that a consumer group gets in the same transaction. */
export interface GroupOffset {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** Bounds how long readers wait behind a transaction that a crash left open. */
const TRANSACTION_TIMEOUT_MS = 15_000;

/**
 * Clusters shared by the publishers of a client, each with a connection to each broker. A broker answers the requests of one
 * connection in order, so with fewer clusters publishers would wait longer for each other.
 */
const MOST_CLUSTERS = 8;
const clustersOf = perClient(
  (kafka: Kafka) => new SharedClusters(() => createCluster(kafka), MOST_CLUSTERS),
);

/** How often a busy coordinator is asked where kafkajs does not do it. */
const MOST_BUSY_TRIES = 250;

/**
 * Publishes records and a group's position in one Kafka transaction.
 * States: open, broken (after any error of `publish`; every later call is refused), closed.
 */
export class TransactionalPublisher {
  #broken: Error | undefined;

  private constructor(
    private readonly producer: Producer,
    private readonly lease: Lease,
    private readonly transactionalId: string,
  ) {}

  /**
   * A connected publisher. Whoever used the transactional id before is fenced now, and a transaction that it left
   * open is finished, so that the group's position can be read next.
   */
  static async open({
    kafka,
    transactionalId,
  }: {
    kafka: Kafka;
    transactionalId: string;
  }): Promise<TransactionalPublisher> {
    patchKafkajs();
    const lease = await clustersOf(kafka).lease();
    try {
      const producer = producerOn(kafka, lease.cluster, {
        transactionalId,
        createPartitioner: Partitioners.DefaultPartitioner,
        transactionTimeout: TRANSACTION_TIMEOUT_MS,
        retry: BUSY_RETRY,
      });
      await producer.connect();
      await (await producer.transaction()).abort(); // sends InitProducerId and nothing else
      return new TransactionalPublisher(producer, lease, transactionalId);
    } catch (error) {
      lease.retire();
      await lease.release();
      throw error;
    }
  }

  /**
   * All of it becomes visible to read_committed readers, or nothing.
   * @throws ProducerFencedError, RecordTooLargeError (nothing is visible), PublishOutcomeUnknownError (open another publisher to learn it)
   */
  async publish({
    records,
    offset,
  }: {
    records: readonly PartitionMessages[];
    offset: GroupOffset;
  }): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      const transaction = await this.producer.transaction();
      try {
        await sendAll(transaction, records);
        await sendOffset(transaction, offset);
      } catch (error) {
        await abortQuietly(transaction);
        throw error;
      }
      await transaction.commit();
    } catch (error) {
      this.lease.retire();
      this.#broken = this.#translate(error, records);
      throw this.#broken;
    }
  }

  async close(): Promise<void> {
    this.#broken ??= new Error(`the publisher ${this.transactionalId} is closed`);
    await this.lease.release();
  }

  #translate(error: unknown, records: readonly PartitionMessages[]): Error {
    if (isFenced(error)) return new ProducerFencedError(this.transactionalId, error);
    if (isTooLarge(error))
      return new RecordTooLargeError(
        records.map(({ topic }) => topic),
        error,
      );
    return new PublishOutcomeUnknownError(this.transactionalId, error);
  }
}

/**
 * Each send names one partition. If one of several brokers fails, kafkajs keeps the responses per broker and looks up the
 * leaders again: messages of a partition whose leader moved are then sent twice, or not at all.
 */
async function sendAll(
  transaction: Transaction,
  records: readonly PartitionMessages[],
): Promise<void> {
  for (const { topic, partition, messages, mostBytes } of records) {
    const placed = messages.map((message) => ({ ...message, partition }));
    for (const chunk of sendChunks(placed, mostBytes))
      await transaction.send({ topic, messages: chunk, acks: -1 });
  }
}

/** kafkajs does not ask again when the coordinator is busy with the previous transaction. */
async function sendOffset(
  transaction: Transaction,
  { groupId, topic, partition, offset }: GroupOffset,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await transaction.sendOffsets({
        consumerGroupId: groupId,
        topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }],
      });
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === MOST_BUSY_TRIES) throw error;
      await delay(BUSY_WAIT_MS);
    }
  }
}

/** The error that led here is the one to tell; a transaction that can't be aborted is finished by the next publisher. */
async function abortQuietly(transaction: Transaction): Promise<void> {
  try {
    await transaction.abort();
  } catch {
    return;
  }
}
