import {
  BatchConsumer,
  type BatchConsumerOptions,
  type KafkaRecord,
  type PartitionAssignment,
  type RecordBatch,
} from '#kafka-batch';
import { SILENT } from '../support/loggers.js';
import type { TestTopic } from './topic.js';

/**
 * Handlers that store the records of each partition, and start a partition after its last stored
 * batch.
 */
export class Memory {
  readonly records = new Map<number, KafkaRecord[]>();
  readonly next = new Map<number, number>();
  readonly assignments = new Map<number, PartitionAssignment>();
  starts = 0;
  released = 0;
  /**
   * For each partition, the number of starts minus releases; `mostOpen` is the largest such number
   * so far.
   */
  readonly open = new Map<number, number>();
  mostOpen = 0;
  /** The number of batches passed to the handler. */
  entered = 0;
  /** Called before a batch is stored. */
  before: (batch: RecordBatch) => Promise<void> = () => Promise.resolve();
  /** Finds the start offset of a partition. */
  find: (partition: number) => Promise<number> = (of) => Promise.resolve(this.next.get(of) ?? 0);

  readonly handlers = {
    assigned: (assignment: PartitionAssignment): Promise<number> => {
      this.starts += 1;
      this.#opened(assignment, 1);
      this.assignments.set(assignment.partition, assignment);
      return this.find(assignment.partition);
    },
    batch: async (batch: RecordBatch): Promise<void> => {
      this.entered += 1;
      await this.before(batch);
      const { partition, records, nextOffset } = batch;
      this.records.set(partition, [...(this.records.get(partition) ?? []), ...records]);
      this.next.set(partition, nextOffset);
    },
    released: (assignment: PartitionAssignment): Promise<void> => {
      this.released += 1;
      this.#opened(assignment, -1);
      return Promise.resolve();
    },
  };

  /** Blocks all batches, or the batches of one partition, until the returned function is called. */
  hold(only?: number): () => void {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    this.before = ({ partition }) =>
      only === undefined || partition === only ? held : Promise.resolve();
    return release;
  }

  values(partition: number): (string | undefined)[] {
    return (this.records.get(partition) ?? []).map(({ value }) => value?.toString());
  }

  count(partition: number): number {
    return this.records.get(partition)?.length ?? 0;
  }

  #opened({ partition }: PartitionAssignment, change: number): void {
    const open = (this.open.get(partition) ?? 0) + change;
    this.open.set(partition, open);
    this.mostOpen = Math.max(this.mostOpen, open);
  }
}

/** Short session and backoff times, so that restarts are fast; used by every Collector. */
export const FAST = {
  consumer: { sessionTimeout: 6_000, heartbeatInterval: 500 },
  backoff: { firstMs: 10, maxMs: 50 },
} as const;

/** A batch consumer that stores what it gets. It is closed when its topic is removed. */
export class Collector extends Memory {
  readonly fatal: Error[] = [];
  readonly consumer: BatchConsumer;

  constructor(topic: TestTopic, options: Partial<BatchConsumerOptions> = {}) {
    super();
    this.consumer = new BatchConsumer({
      kafka: topic.kafka,
      groupId: topic.name,
      topic: topic.name,
      logger: SILENT,
      onFatal: (error) => this.fatal.push(error),
      handlers: this.handlers,
      ...FAST,
      ...options,
    });
    topic.onRemove(() => this.consumer.close());
  }

  static start(topic: TestTopic, options?: Partial<BatchConsumerOptions>): Promise<Collector> {
    return new Collector(topic, options).start();
  }

  async start(): Promise<this> {
    await this.consumer.start();
    return this;
  }

  state(partition: number) {
    return this.consumer.health().partitions.get(partition);
  }

  isPaused(partition: number): boolean {
    return this.consumer.client.paused().some(({ partitions }) => partitions.includes(partition));
  }
}
