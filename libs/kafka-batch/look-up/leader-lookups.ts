import kafkajs from 'kafkajs';
import type { FetchedPartition } from 'kafkajs/src/broker/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { Batched } from '../kafkajs/batched.js';
import { READ_COMMITTED, READ_UNCOMMITTED } from '../kafkajs/cluster.js';
import { logBatch, type LogBatch } from '../kafkajs/committed-messages.js';
import type { LogRange, TopicPartition } from '../kafkajs/types.js';

/** An offset in the log of a partition. */
export interface LogPosition extends TopicPartition {
  readonly offset: number;
}

/**
 * Where a range ends: `committed`, before the first record of an open transaction; `written`, after
 * the last record, so that a read of the range waits until the open transactions end.
 */
export type LogEnd = 'committed' | 'written';

const FETCH_BYTES = 1_048_576;
const FETCH = { isolationLevel: READ_COMMITTED, maxWaitTime: 0, minBytes: 0 };
const EARLIEST = '-2';
const LATEST = '-1';

/** Look-ups in the partitions that one broker leads. Concurrent ones share requests. */
export class LeaderLookups {
  readonly #starts = this.#offsets(EARLIEST, READ_COMMITTED);
  readonly #ends = {
    committed: this.#offsets(LATEST, READ_COMMITTED),
    written: this.#offsets(LATEST, READ_UNCOMMITTED),
  };
  readonly #fetches = new Batched((positions: readonly LogPosition[]) =>
    this.#requestFetches(positions),
  );

  constructor(
    private readonly cluster: Cluster,
    private readonly nodeId: number,
  ) {}

  async range(topicPartition: TopicPartition, end: LogEnd = 'committed'): Promise<LogRange> {
    const [first, last] = await Promise.all([
      this.#starts.get(topicPartition),
      this.#ends[end].get(topicPartition),
    ]);
    return { start: required(first, topicPartition), end: required(last, topicPartition) };
  }

  /** The committed records of a partition from an offset on; undefined if there are none. */
  async fetch(position: LogPosition): Promise<LogBatch | undefined> {
    const fetched = await this.#fetches.get(position);
    return fetched === undefined ? undefined : logBatch(fetched, position.offset);
  }

  #offsets(timestamp: string, isolationLevel: number) {
    return new Batched(async (wanted: readonly TopicPartition[]) => {
      const requested = new PartitionMap<{ partition: number; timestamp: string }>();
      for (const topicPartition of wanted)
        requested.set(topicPartition, { partition: topicPartition.partition, timestamp });
      const topics = requested.topics();
      const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
      const { responses } = await broker.listOffsets({ isolationLevel, topics });

      const found = new PartitionMap<number>();
      for (const { topic, partitions } of responses)
        for (const { partition, offset } of partitions)
          found.set({ topic, partition }, Number(offset));
      return new Map(wanted.map((topicPartition) => [topicPartition, found.get(topicPartition)]));
    });
  }

  /**
   * Sends fetches, and repeats those that may be empty only because other fetches filled the
   * response, whose size is limited.
   */
  async #requestFetches(
    positions: readonly LogPosition[],
  ): Promise<Map<LogPosition, FetchedPartition>> {
    const answers = new Map<LogPosition, FetchedPartition>();
    let open = [...positions];
    while (open.length > 0) {
      // A request takes one offset of each partition.
      const round = new PartitionMap<LogPosition>();
      for (const position of open) round.set(position, position);
      const found = await this.#requestFetch(round.values());

      const isAnyFilled = found.values().some(({ messages }) => messages.length > 0);
      for (const position of round.values()) {
        const fetched = found.get(position) ?? { partition: position.partition, messages: [] };
        if (fetched.messages.length > 0 || !isAnyFilled) answers.set(position, fetched);
      }
      open = open.filter((position) => !answers.has(position));
    }
    return answers;
  }

  async #requestFetch(positions: readonly LogPosition[]): Promise<PartitionMap<FetchedPartition>> {
    const requested = new PartitionMap<object>();
    for (const position of positions) {
      const { partition, offset } = position;
      requested.set(position, { partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES });
    }
    const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
    const { responses } = await broker.fetch({ ...FETCH, topics: requested.topics() });

    const found = new PartitionMap<FetchedPartition>();
    for (const { topicName: topic, partitions } of responses)
      for (const fetched of partitions) found.set({ topic, partition: fetched.partition }, fetched);
    return found;
  }
}

/** @throws unless Kafka returned an offset for the partition */
function required(offset: number | undefined, { topic, partition }: TopicPartition): number {
  if (offset !== undefined) return offset;
  throw new kafkajs.KafkaJSError(`Kafka left ${topic}/${partition} out of its response`);
}

/** One value for each partition. */
class PartitionMap<Value> {
  readonly #topics = new Map<string, Map<number, Value>>();

  get({ topic, partition }: TopicPartition): Value | undefined {
    return this.#topics.get(topic)?.get(partition);
  }

  set({ topic, partition }: TopicPartition, value: Value): void {
    const partitions = this.#topics.get(topic) ?? new Map<number, Value>();
    this.#topics.set(topic, partitions.set(partition, value));
  }

  values(): Value[] {
    return this.topics().flatMap(({ partitions }) => partitions);
  }

  /** The values in the form of a request. */
  topics(): { topic: string; partitions: Value[] }[] {
    return [...this.#topics].map(([topic, partitions]) => {
      return { topic, partitions: [...partitions.values()] };
    });
  }
}
