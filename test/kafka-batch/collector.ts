import type { Kafka } from 'kafkajs';
import type { KafkaRecord, RecordBatch } from '#kafka-batch';
import { BatchConsumer, type BatchConsumerOptions } from '../../libs/kafka-batch/batch-consumer.js';
import { SILENT } from '../support/loggers.js';
import type { TestTopic } from './topic.js';

type Options = Partial<BatchConsumerOptions> & {
  /** Awaited before a batch is taken in. */
  readonly before?: (batch: RecordBatch) => Promise<void>;
};

/** A batch consumer that keeps what it is given, and goes on behind it. */
export class Collector {
  readonly records = new Map<number, KafkaRecord[]>();
  readonly fatal: Error[] = [];
  /** Starts of partitions: one each, unless something was wrong. */
  starts = 0;
  /** Batches handed over, those in hand with them. A partition that starts is busy as well, with none in hand. */
  handed = 0;
  readonly consumer: BatchConsumer;
  readonly #next = new Map<number, number>();

  private constructor(topic: TestTopic, { before = () => Promise.resolve(), ...options }: Options) {
    this.consumer = new BatchConsumer({
      kafka: topic.kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => this.fatal.push(error),
      consumer: { sessionTimeout: 6_000, heartbeatInterval: 500 },
      backoff: { firstMs: 10, mostMs: 50 },
      handlers: {
        assigned: ({ partition }) => {
          this.starts += 1;
          return Promise.resolve(this.#next.get(partition) ?? 0);
        },
        batch: async (batch) => {
          this.handed += 1;
          await before(batch);
          this.#take(batch);
        },
        released: () => Promise.resolve(),
      },
      ...options,
    });
  }

  static async start(topic: TestTopic, options: Options = {}): Promise<Collector> {
    const collector = new Collector(topic, options);
    await collector.consumer.start();
    return collector;
  }

  values(partition: number): (string | undefined)[] {
    return (this.records.get(partition) ?? []).map(({ value }) => value?.toString());
  }

  count(partition: number): number {
    return this.records.get(partition)?.length ?? 0;
  }

  state(partition: number) {
    return this.consumer.health().partitions.get(partition);
  }

  isPaused(partition: number): boolean {
    return this.consumer.client.paused().some(({ partitions }) => partitions.includes(partition));
  }

  #take({ partition, records, nextOffset }: RecordBatch): void {
    this.records.set(partition, [...(this.records.get(partition) ?? []), ...records]);
    this.#next.set(partition, nextOffset);
  }
}

/** A transactional producer of its own id. */
export async function transactional(kafka: Kafka, transactionalId: string) {
  const producer = kafka.producer({
    transactionalId,
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 20, retries: 20 },
  });
  await producer.connect();
  return producer;
}
