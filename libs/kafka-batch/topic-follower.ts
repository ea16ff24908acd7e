import type { LogRange } from './errors.js';
import { LogReader, type LogReaderOptions } from './log-reader.js';
import type { KafkaRecord } from './types.js';

type FollowerOptions = LogReaderOptions & { readonly signal: AbortSignal };

/** Reads a topic in the background, without a consumer group, and passes on each committed record. */
export class TopicFollower {
  /** By partition: all records below this offset were passed on. */
  readonly #taken: Map<number, number>;
  /** Continue the calls of `reach`. */
  readonly #wakers: (() => void)[] = [];

  private constructor(
    private readonly reader: LogReader,
    private readonly options: FollowerOptions,
  ) {
    this.#taken = new Map(reader.positions);
  }

  /** Connects, however long it takes. @throws the abort reason, or an error that no retry repairs */
  static async open(options: FollowerOptions): Promise<TopicFollower> {
    return new TopicFollower(await LogReader.open(options), options);
  }

  /** Never resolves. @throws the abort reason, or an error that no retry repairs */
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
   * Resolves when all records of a partition were passed on up to the end of its range; never, if `run` ends before.
   * @throws if the partition is not in `from` of the options
   */
  async reach(partition: number, ranges: ReadonlyMap<number, LogRange>): Promise<void> {
    const { topic } = this.options;
    for (;;) {
      const taken = this.#taken.get(partition);
      if (taken === undefined) throw new Error(`${topic} got more partitions meanwhile`);
      if (taken >= (ranges.get(partition)?.end ?? 0)) return;
      await new Promise<void>((resolve) => void this.#wakers.push(resolve));
    }
  }
}
