import { randomUUID } from 'node:crypto';
import kafkajs, {
  type Admin,
  type IHeaders,
  type Kafka,
  type Message,
  type Producer,
} from 'kafkajs';
import { BatchEncoder, MAX_DECOMPRESSED_BYTES, TransactionalPublisher } from '#kafka-batch';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { until } from '../support/instance.js';

const { CompressionTypes, Partitioners } = kafkajs;

/**
 * A new topic on the running Kafka, with a silent client. `remove` also closes what the test
 * opened.
 */
export class TestTopic {
  readonly name: string;
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(
    readonly prefix: string,
    suffix: string,
  ) {
    this.name = `${prefix}${suffix}`;
    this.kafka = testKafka({ brokers: (process.env['KAFKA_BROKERS'] ?? '').split(',') });
    this.admin = this.kafka.admin();
  }

  static async create(
    numPartitions: number,
    settings: Readonly<Record<string, string>> = {},
    suffix = '',
  ): Promise<TestTopic> {
    const topic = new TestTopic(`test-${randomUUID().slice(0, 8)}`, suffix);
    await topic.admin.connect();
    const kept = { 'retention.ms': '-1', ...settings }; // keeps also records with old timestamps
    const configEntries = Object.entries(kept).map(([name, value]) => ({ name, value }));
    await topic.admin.createTopics({
      topics: [{ topic: topic.name, numPartitions, configEntries }],
      waitForLeaders: false, // kafkajs gives up when a broker does not know the topic yet
    });
    await until(() => topic.isThere(), 'the topic has its leaders');
    return topic;
  }

  private async isThere(): Promise<boolean> {
    try {
      await this.admin.fetchTopicOffsets(this.name);
      return true;
    } catch {
      return false;
    }
  }

  /** Sends values to a partition, in order. */
  async send(partition: number, values: readonly (string | null)[]): Promise<void> {
    await this.produce(values.map((value) => ({ partition, value })));
  }

  async produce(messages: Message[], compression = CompressionTypes.None): Promise<void> {
    const createPartitioner = Partitioners.DefaultPartitioner;
    const producer = this.kafka.producer({ createPartitioner });
    await producer.connect();
    await producer.send({ topic: this.name, messages, compression });
    await producer.disconnect();
  }

  /** Sends a batch that is larger, when decompressed, than any reader accepts. */
  async sendTooLarge(partition: number): Promise<void> {
    const value = Buffer.alloc(MAX_DECOMPRESSED_BYTES + 1);
    await this.produce([{ partition, value }], CompressionTypes.GZIP);
  }

  /** Registers what to run before the topic is removed; what is registered last runs first. */
  onRemove(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** A producer whose transactional id is the topic's name. */
  async transactional(): Promise<Producer> {
    const producer = this.kafka.producer({
      transactionalId: this.name,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20, retries: 20 },
    });
    await producer.connect();
    this.onRemove(() => producer.disconnect());
    return producer;
  }

  /**
   * Sends values to partition 0 in a transaction, one send each; resolves when its marker is
   * written.
   */
  async transact(values: readonly string[], end: 'commit' | 'abort'): Promise<void> {
    const transaction = await (await this.transactional()).transaction();
    for (const value of values)
      await transaction.send({ topic: this.name, messages: [{ partition: 0, value }] });
    await transaction[end]();
    await transactionsEnded(this.kafka, this.name);
  }

  async publisher(kafka = this.kafka): Promise<TransactionalPublisher> {
    const publisher = await TransactionalPublisher.open(kafka, this.name);
    this.onRemove(() => publisher.close());
    return publisher;
  }

  /**
   * A publication of values to partition 0 and of the next offset of the group with the topic's
   * name.
   */
  publication(values: readonly string[], offset: number, headers: IHeaders = {}) {
    const at = { topic: this.name, partition: 0 };
    const records = new BatchEncoder();
    for (const value of values) records.add({ value, headers });
    const batches = records.close();
    return { records: [{ ...at, batches }], offset: { groupId: this.name, ...at, offset } };
  }

  /** The committed offsets of a group by partition; -1 for none. */
  async committed(groupId = this.name): Promise<number[]> {
    const [found] = await this.admin.fetchOffsets({ groupId, topics: [this.name] });
    const offsets = new Map(found?.partitions.map(({ partition, offset }) => [partition, offset]));
    return Array.from({ length: offsets.size }, (_, partition) => Number(offsets.get(partition)));
  }

  /** Deletes the records before an offset. */
  async cut(partition: number, offset: number): Promise<void> {
    await this.admin.fetchTopicOffsets(this.name); // otherwise kafkajs does not know the leaders
    await this.admin.deleteTopicRecords({
      topic: this.name,
      partitions: [{ partition, offset: String(offset) }],
    });
  }

  async remove(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await this.admin.deleteTopics({ topics: [this.name] });
    await this.admin.disconnect();
  }
}

export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => String(from + index));
