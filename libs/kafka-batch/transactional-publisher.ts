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
import { createCluster, producerOn, SharedClusters, type ClusterLease } from './cluster.js';
import { BUSY_RETRY, BUSY_WAIT_MS } from './kafkajs-patches.js';
import { sendChunks } from './send-chunks.js';

interface PartitionMessages {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly Message[];
  /** Size limit of a batch of the topic; counts if it is lower than that of sendChunks. */
  readonly maxBytes?: number;
}

/** Records, and the group's offset, to be committed in the same transaction. */
interface Publication {
  readonly records: readonly PartitionMessages[];
  readonly offset: {
    readonly groupId: string;
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
  };
}

/** Limits how long readers wait for a transaction that a crash left open. */
const TRANSACTION_TIMEOUT_MS = 15_000;

/**
 * Publishers of a client share clusters, each with a connection to each broker. A broker answers the requests of a
 * connection in order, so publishers of the same cluster wait for each other.
 */
const MAX_CLUSTERS = 8;
const clustersOf = perClient(
  (kafka: Kafka) => new SharedClusters(() => createCluster(kafka), MAX_CLUSTERS),
);

const MAX_BUSY_TRIES = 250;

/**
 * Publishes records and a group's offset in one Kafka transaction.
 * States: open, broken (after an error of `publish`; every later call throws it), closed.
 */
export class TransactionalPublisher {
  #broken: Error | undefined;

  private constructor(
    private readonly producer: Producer,
    private readonly lease: ClusterLease,
    private readonly transactionalId: string,
  ) {}

  /**
   * Connects, fences earlier publishers with the same transactional id, and completes a transaction that they left open, so
   * that the group's offset can be read next.
   */
  static async open(kafka: Kafka, transactionalId: string): Promise<TransactionalPublisher> {
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
   * Publishes the records and the offset: read_committed readers see all of them, or nothing.
   * @throws ProducerFencedError, RecordTooLargeError (nothing is visible), PublishOutcomeUnknownError
   */
  async publish({ records, offset }: Publication): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      const transaction = await this.producer.transaction();
      try {
        await sendAll(transaction, records);
        await sendOffset(transaction, offset);
      } catch (error) {
        await transaction.abort().catch(() => undefined); // the next publisher completes the transaction
        throw error;
      }
      await transaction.commit();
    } catch (error) {
      this.lease.retire();
      this.#broken = this.#translate(error);
      throw this.#broken;
    }
  }

  async close(): Promise<void> {
    this.#broken ??= new Error(`the publisher ${this.transactionalId} is closed`);
    await this.lease.release();
  }

  #translate(error: unknown): Error {
    if (isFenced(error)) return new ProducerFencedError(this.transactionalId, error);
    if (isTooLarge(error)) return new RecordTooLargeError(error);
    return new PublishOutcomeUnknownError(this.transactionalId, error);
  }
}

/**
 * Sends to one partition at a time. If one of several brokers fails, kafkajs keeps the responses by broker and looks up the
 * leaders again. If a leader has moved, kafkajs then sends the messages of that partition twice, or never.
 */
async function sendAll(
  transaction: Transaction,
  records: readonly PartitionMessages[],
): Promise<void> {
  for (const { topic, partition, messages, maxBytes } of records) {
    const placed = messages.map((message) => ({ ...message, partition }));
    for (const chunk of sendChunks(placed, maxBytes))
      await transaction.send({ topic, messages: chunk, acks: -1 });
  }
}

/** Retries while the coordinator is busy with the previous transaction, because kafkajs does not. */
async function sendOffset(
  transaction: Transaction,
  { groupId, topic, partition, offset }: Publication['offset'],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await transaction.sendOffsets({
        consumerGroupId: groupId,
        topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }],
      });
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === MAX_BUSY_TRIES) throw error;
      await delay(BUSY_WAIT_MS);
    }
  }
}
