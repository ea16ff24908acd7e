import type { Kafka } from 'kafkajs';
import { allOf } from '#errors';
import { perClient } from '../kafkajs/batched.js';
import { createCluster, SharedClusters, type ClusterLease } from '../kafkajs/cluster.js';
import {
  isFenced,
  isTooLarge,
  ProducerFencedError,
  PublishOutcomeUnknownError,
  RecordTooLargeError,
} from '../kafkajs/kafka-errors.js';
import { ProducerSession, type GroupOffset, type PartitionBatches } from './producer-session.js';

/** Records, and maybe a group's offset, to be committed in the same transaction. */
interface TransactionContent {
  readonly records: readonly PartitionBatches[];
  readonly offset?: GroupOffset;
}

/**
 * Publishers of a client share clusters, each with a connection to each broker. A broker answers
 * the requests of a connection in order, so publishers of the same cluster wait for each other.
 */
const MAX_CLUSTERS = 8;
const clustersOf = perClient(
  (kafka: Kafka) => new SharedClusters(() => createCluster(kafka), MAX_CLUSTERS),
);

/**
 * Publishes records and a group's offset in one Kafka transaction.
 * States: open, broken (after an error of `publish`; every later call throws it), closed.
 */
export class TransactionalPublisher {
  #broken: Error | undefined;

  private constructor(
    private readonly session: ProducerSession,
    private readonly lease: ClusterLease,
    private readonly transactionalId: string,
  ) {}

  /**
   * Connects, fences earlier publishers with the same transactional id, and completes a transaction
   * that they left open, so that the group's offset can be read next.
   */
  static async open(kafka: Kafka, transactionalId: string): Promise<TransactionalPublisher> {
    const lease = await clustersOf(kafka).lease();
    try {
      const session = await ProducerSession.open(lease.cluster, transactionalId);
      return new TransactionalPublisher(session, lease, transactionalId);
    } catch (error) {
      lease.retire();
      await lease.release();
      throw error;
    }
  }

  /**
   * Publishes the records and the offset: read_committed readers see all of them, or nothing.
   * @returns the offsets of the records of each entry of `records`
   * @throws ProducerFencedError, RecordTooLargeError (nothing is visible),
   * PublishOutcomeUnknownError
   */
  async publish(content: TransactionContent): Promise<readonly (readonly number[])[]> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      return await this.#transact(content);
    } catch (error) {
      this.lease.retire();
      this.#broken = this.#translate(error);
      throw this.#broken;
    }
  }

  /** Sends the requests in three steps. The requests of a step do not depend on each other. */
  async #transact({ records, offset }: TransactionContent): Promise<number[][]> {
    const { session } = this;
    session.begin();
    let offsets: number[][];
    try {
      const added = [session.addPartitions(records)];
      if (offset !== undefined) added.push(session.addGroup(offset.groupId));
      await allOf(added);

      const produced = records.map((part) => session.produce(part));
      const committed = offset === undefined ? undefined : session.commitOffset(offset);
      await allOf([...produced, committed]);
      offsets = await Promise.all(produced);
    } catch (error) {
      // If the abort fails, the next publisher completes the transaction.
      await session.end('abort').catch(() => undefined);
      throw error;
    }
    await session.end('commit');
    return offsets;
  }

  /** How many partitions a topic has, by metadata that may be five minutes old. */
  partitionCount(topic: string): Promise<number> {
    return this.session.partitionCount(topic);
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
