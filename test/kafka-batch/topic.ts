import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';

/** A topic of its own on the running Kafka, with a client that says nothing. */
export class TestTopic {
  readonly name: string;
  readonly kafka: Kafka;
  readonly admin: Admin;

  private constructor(
    readonly prefix: string,
    suffix: string,
  ) {
    this.name = `${prefix}${suffix}`;
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    this.kafka = testKafka({
      brokers,
    });
    this.admin = this.kafka.admin();
  }

  static async create(
    numPartitions: number,
    settings: Readonly<Record<string, string>> = {},
    suffix = '',
  ): Promise<TestTopic> {
    const topic = new TestTopic(`test-${randomUUID().slice(0, 8)}`, suffix);
    await topic.admin.connect();
    const kept = { 'retention.ms': '-1', ...settings }; // records of long ago, too
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
    const producer = this.kafka.producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    await producer.send({
      topic: this.name,
      messages: values.map((value) => ({ partition, value })),
    });
    await producer.disconnect();
  }

  /** What the group has committed, partition by partition; -1 for nothing. */
  async committed(groupId: string): Promise<number[]> {
    const [found] = await this.admin.fetchOffsets({ groupId, topics: [this.name] });
    const offsets = new Map(found?.partitions.map(({ partition, offset }) => [partition, offset]));
    return Array.from({ length: offsets.size }, (_, partition) => Number(offsets.get(partition)));
  }

  /** Deletes what lies before an offset. */
  async cut(partition: number, offset: number): Promise<void> {
    await this.admin.fetchTopicOffsets(this.name); // kafkajs finds no leader of a topic that it was not asked for
    await this.admin.deleteTopicRecords({
      topic: this.name,
      partitions: [{ partition, offset: String(offset) }],
    });
  }

  async remove(): Promise<void> {
    await this.admin.deleteTopics({ topics: [this.name] });
    await this.admin.disconnect();
  }
}

export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => String(from + index));
