import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';

/** A topic of its own on the running Kafka, with a client that says nothing. */
export class TestTopic {
  readonly name = `test-${randomUUID().slice(0, 8)}`;
  readonly kafka: Kafka;
  readonly admin: Admin;

  private constructor() {
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    this.kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
    this.admin = this.kafka.admin();
  }

  static async create(
    numPartitions: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TestTopic> {
    const topic = new TestTopic();
    await topic.admin.connect();
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await topic.admin.createTopics({
      topics: [{ topic: topic.name, numPartitions, configEntries }],
      waitForLeaders: true,
    });
    return topic;
  }

  /** Sends values to a partition, in order. */
  async send(partition: number, values: readonly string[]): Promise<void> {
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
