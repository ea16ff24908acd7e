import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaRecord } from '../kafkajs/types.js';
import { partitionCount } from './log-ranges.js';
import { LogReader, type LogReaderOptions } from './log-reader.js';

type FollowerOptions = LogReaderOptions & { readonly signal: AbortSignal };

const CHECK_PARTITIONS_MS = 15_000;

/**
 * Reads a topic in the background, without a consumer group, and passes on each committed record.
 */
export class TopicFollower {
  /** By partition: all records below this offset were passed on. */
  readonly #taken: Map<number, number>;
  /** Each of them continues a call of `reach`. */
  readonly #wakers: (() => void)[] = [];

  private constructor(
    private readonly reader: LogReader,
    private readonly options: FollowerOptions,
  ) {
    this.#taken = new Map(reader.positions);
  }

  get topic(): string {
    return this.options.topic;
  }

  /**
   * Connects, however long it takes.
   * @throws the abort reason, or an error that no retry repairs
   */
  static async open(options: FollowerOptions): Promise<TopicFollower> {
    return new TopicFollower(await LogReader.open(options), options);
  }

  /**
   * Never resolves.
   * @throws the abort reason, or an error that no retry repairs
   */
  async run(take: (record: KafkaRecord, partition: number) => void): Promise<never> {
    try {
      for (;;) {
        for (const { partition, records, nextOffset } of await this.reader.fetch()) {
          for (const record of records) take(record, partition);
          this.#taken.set(partition, nextOffset);
        }
        for (const wake of this.#wakers.splice(0)) wake();
      }
    } finally {
      await this.reader.close();
    }
  }

  /**
   * Never resolves.
   * @throws the abort reason, or an error once the topic has more partitions, which `run` lacks
   */
  async watchPartitions(): Promise<never> {
    const { kafka, topic, signal } = this.options;
    for (;;) {
      await delay(CHECK_PARTITIONS_MS, undefined, { signal, ref: false });
      const partitions = await partitionCount(kafka, topic).catch(() => 0); // Kafka is away
      if (partitions > this.#taken.size) throw new Error(`${topic} got more partitions`);
    }
  }

  /**
   * Resolves when `run` has passed on all records up to these ends, by partition. Never resolves if
   * `run` ends before.
   * @throws if a partition is not in `from` of the options
   */
  async reach(ends: ReadonlyMap<number, number>): Promise<void> {
    const isMissing = ([partition, end]: [number, number]) => {
      const taken = this.#taken.get(partition);
      if (taken !== undefined) return taken < end;
      throw new Error(`${this.topic} got more partitions meanwhile`);
    };
    while ([...ends].some(isMissing))
      await new Promise<void>((resolve) => void this.#wakers.push(resolve));
  }
}
