import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type Broker from 'kafkajs/src/broker/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import produceVersions from 'kafkajs/src/protocol/requests/produce/index.js';
import { Backoff } from '../kafkajs/backoff.js';
import { isBusy, isConcurrent } from '../kafkajs/kafka-errors.js';
import { stamp, type EncodedBatch, type ProducerIdentity } from '../kafkajs/record-batch.js';

/** A partition of a topic, and the batches to add to it, in order. */
export interface PartitionBatches {
  readonly topic: string;
  readonly partition: number;
  readonly batches: readonly EncodedBatch[];
}

/** An offset of a consumer group. Brokers take up to 4,096 bytes of `metadata` by default. */
export interface GroupOffset {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata?: string;
}

/** Kafka aborts a transaction after this time, so that readers don't wait for one left open. */
const TRANSACTION_TIMEOUT_MS = 15_000;

const GROUP = 0;
const TRANSACTION = 1;
const PRODUCE = 0;
const PRODUCE_TIMEOUT_MS = 30_000;
/** Kafka counts sequences modulo this. */
const SEQUENCES = 2 ** 31;

/** Waits while the coordinator completes the previous transaction: it takes a moment. */
const BUSY_BACKOFF = { firstMs: 5, maxMs: 40 };
const BACKOFF = { firstMs: 50, maxMs: 1_000 };

const { KafkaJSError } = kafkajs;

/**
 * The requests of one transactional producer, by the transaction protocol of Kafka (KIP-98). All
 * but `end` are sent again after an error that a retry can repair, until the transaction would time
 * out. That is safe: Kafka executes each once, also a `produce` whose answer was lost. Replaces the
 * producer of kafkajs, which asks for a coordinator before each request, and sends all requests one
 * after the other.
 */
export class ProducerSession {
  readonly #coordinators = new Map<string, Promise<Broker>>();
  /** The next sequence by topic and partition. */
  readonly #sequences = new Map<string, number>();
  #identity: ProducerIdentity = { producerId: '-1', producerEpoch: -1 };
  #deadline = 0;

  private constructor(
    private readonly cluster: Cluster,
    private readonly transactionalId: string,
  ) {}

  /** Fences earlier producers with the same transactional id, and ends a transaction left open. */
  static async open(cluster: Cluster, transactionalId: string): Promise<ProducerSession> {
    const session = new ProducerSession(cluster, transactionalId);
    session.begin();
    const request = { transactionalId, transactionTimeout: TRANSACTION_TIMEOUT_MS };
    session.#identity = await session.#repeat(async () => {
      const coordinator = await session.#coordinator();
      return coordinator.initProducerId(request);
    }, isBusy);
    return session;
  }

  /**
   * Begins the time limit of a transaction. Kafka begins the transaction with the first request.
   */
  begin(): void {
    this.#deadline = performance.now() + TRANSACTION_TIMEOUT_MS;
  }

  async addPartitions(parts: readonly PartitionBatches[]): Promise<void> {
    if (parts.length === 0) return;
    const topics = parts.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
    await this.#repeat(async () => {
      const coordinator = await this.#coordinator();
      await coordinator.addPartitionsToTxn({ ...this.#own, topics });
    });
  }

  async addGroup(groupId: string): Promise<void> {
    await this.#repeat(async () => {
      const coordinator = await this.#coordinator();
      await coordinator.addOffsetsToTxn({ ...this.#own, groupId });
    });
  }

  /** Sends the batches of a partition one after the other. Returns the offset of each record. */
  async produce({ topic, partition, batches }: PartitionBatches): Promise<number[]> {
    const place = `${topic}/${partition}`;
    const offsets: number[] = [];
    for (const batch of batches) {
      const sequence = this.#sequences.get(place) ?? 0;
      stamp(batch, this.#identity, sequence);
      const first = await this.#repeat(async () => {
        const leader = await this.#leader(topic, partition);
        return sendBatch(leader, { topic, partition }, batch.bytes, this.transactionalId);
      });
      for (let index = 0; index < batch.count; index++) offsets.push(first + index);
      this.#sequences.set(place, (sequence + batch.count) % SEQUENCES);
    }
    return offsets;
  }

  async partitionCount(topic: string): Promise<number> {
    await this.cluster.addMultipleTargetTopics([topic]);
    await this.cluster.refreshMetadataIfNecessary();
    return this.cluster.findTopicPartitionMetadata(topic).length;
  }

  async commitOffset(groupOffset: GroupOffset): Promise<void> {
    const { groupId, topic, partition, offset, metadata } = groupOffset;
    const topics = [{ topic, partitions: [{ partition, offset: String(offset), metadata }] }];
    await this.#repeat(async () => {
      const coordinator = await this.#coordinator(GROUP, groupId);
      await coordinator.txnOffsetCommit({ ...this.#own, groupId, topics });
    });
  }

  /** Sends the request only once: after an error, the outcome is unknown. */
  async end(how: 'commit' | 'abort'): Promise<void> {
    const coordinator = await this.#coordinator();
    await coordinator.endTxn({ ...this.#own, transactionResult: how === 'commit' });
  }

  get #own() {
    return { transactionalId: this.transactionalId, ...this.#identity };
  }

  #coordinator(coordinatorType = TRANSACTION, groupId = this.transactionalId): Promise<Broker> {
    const name = `${coordinatorType} ${groupId}`;
    const known = this.#coordinators.get(name);
    if (known !== undefined) return known;

    const found = this.cluster.findGroupCoordinator({ groupId, coordinatorType });
    this.#coordinators.set(name, found);
    return found;
  }

  async #leader(topic: string, partition: number): Promise<Broker> {
    await this.cluster.addMultipleTargetTopics([topic]);
    const partitions = this.cluster.findTopicPartitionMetadata(topic);
    const nodeId = partitions.find(({ partitionId }) => partitionId === partition)?.leader ?? -1;
    if (nodeId < 0) throw new KafkaJSError(`${topic}/${partition} has no leader`);
    return this.cluster.findBroker({ nodeId });
  }

  /**
   * Repeats a request while its errors are repairable and the transaction has time.
   * @throws the last error
   */
  async #repeat<T>(request: () => Promise<T>, isRepairable = canRetry): Promise<T> {
    const whileBusy = new Backoff(BUSY_BACKOFF);
    const afterFailure = new Backoff(BACKOFF);
    let mustReconnect = false;
    for (;;) {
      try {
        if (mustReconnect) await this.#reconnect();
        return await request();
      } catch (error) {
        if (!isRepairable(error) || performance.now() > this.#deadline) throw error;
        mustReconnect = !isConcurrent(error);
        const backoff = mustReconnect ? afterFailure : whileBusy;
        await delay(backoff.next());
      }
    }
  }

  /** Looks up coordinators and leaders again: they may have moved. */
  async #reconnect(): Promise<void> {
    this.#coordinators.clear();
    if (!this.cluster.isConnected()) await this.cluster.connect();
    await this.cluster.refreshMetadata();
  }
}

interface ProduceAnswer {
  readonly topics: readonly { readonly partitions: readonly { readonly baseOffset: string }[] }[];
}

/**
 * Sends a produce request as kafkajs would encode it, with a batch that is already encoded.
 * Versions 3 to 7 of the request have the same form. Returns the offset of the first record.
 */
export async function sendBatch(
  leader: Broker,
  { topic, partition }: Pick<PartitionBatches, 'topic' | 'partition'>,
  batch: Buffer,
  transactionalId: string | null = null,
): Promise<number> {
  const produce = leader.lookupRequest(PRODUCE, produceVersions);
  const { request, response } = produce({ acks: -1, topicData: [] });
  const textLength = (transactionalId?.length ?? 0) + topic.length;
  const expectedBytes = batch.length + 2 * textLength + 32;
  const bytes = new Encoder(expectedBytes)
    .writeString(transactionalId)
    .writeInt16(-1) // all in-sync replicas
    .writeInt32(PRODUCE_TIMEOUT_MS)
    .writeInt32(1) // one topic
    .writeString(topic)
    .writeInt32(1) // one partition
    .writeInt32(partition)
    .writeBytes(batch);
  const encode = () => Promise.resolve(bytes);
  const answer = await leader.connectionPool.send({ request: { ...request, encode }, response });
  return Number((answer as ProduceAnswer).topics[0]?.partitions[0]?.baseOffset);
}

function canRetry(error: unknown): boolean {
  return isBusy(error) || (error instanceof KafkaJSError && error.retriable);
}
