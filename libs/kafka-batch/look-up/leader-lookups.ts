import kafkajs from 'kafkajs';
import type { FetchedPartition } from 'kafkajs/src/broker/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { Batched } from '../kafkajs/batched.js';
import { READ_COMMITTED, READ_UNCOMMITTED } from '../kafkajs/cluster.js';
import { logBatch, type LogBatch } from '../kafkajs/committed-messages.js';
import type { LogRange, TopicPartition } from '../kafkajs/types.js';

export interface FetchAsk extends TopicPartition {
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
  readonly #fetches = new Batched((asks: readonly FetchAsk[]) => this.#requestFetches(asks));

  constructor(
    private readonly cluster: Cluster,
    private readonly nodeId: number,
  ) {}

  async range(of: TopicPartition, end: LogEnd = 'committed'): Promise<LogRange> {
    const [first, last] = await Promise.all([this.#starts.get(of), this.#ends[end].get(of)]);
    return { start: answered(first, of), end: answered(last, of) };
  }

  /** The committed records of a partition from an offset on; undefined if there is nothing. */
  async fetch(ask: FetchAsk): Promise<LogBatch | undefined> {
    const fetched = await this.#fetches.get(ask);
    return fetched && logBatch(fetched, ask.offset);
  }

  #offsets(timestamp: string, isolationLevel: number) {
    return new Batched(async (asks: readonly TopicPartition[]) => {
      const asked = new PartitionMap<{ partition: number; timestamp: string }>();
      for (const ask of asks) asked.set(ask, { partition: ask.partition, timestamp });
      const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
      const { responses } = await broker.listOffsets({ isolationLevel, topics: asked.topics() });
      const found = new PartitionMap<number>();
      for (const { topic, partitions } of responses)
        for (const { partition, offset } of partitions)
          found.set({ topic, partition }, Number(offset));
      return new Map(asks.map((ask) => [ask, found.get(ask)]));
    });
  }

  /**
   * Sends fetches, and repeats those that may be empty only because other fetches filled the
   * response, whose size is limited.
   */
  async #requestFetches(asks: readonly FetchAsk[]): Promise<Map<FetchAsk, FetchedPartition>> {
    const answers = new Map<FetchAsk, FetchedPartition>();
    for (let open = [...asks]; open.length > 0; open = open.filter((ask) => !answers.has(ask))) {
      const round = new PartitionMap<FetchAsk>();
      for (const ask of open) round.set(ask, ask); // a request takes one offset of each partition
      const found = await this.#requestFetch(round.values());
      const isAnyFilled = found.values().some(({ messages }) => messages.length > 0);
      for (const ask of round.values()) {
        const fetched = found.get(ask) ?? { partition: ask.partition, messages: [] };
        if (fetched.messages.length > 0 || !isAnyFilled) answers.set(ask, fetched);
      }
    }
    return answers;
  }

  async #requestFetch(asks: readonly FetchAsk[]): Promise<PartitionMap<FetchedPartition>> {
    const asked = new PartitionMap<object>();
    for (const ask of asks) {
      const { partition, offset } = ask;
      asked.set(ask, { partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES });
    }
    const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
    const { responses } = await broker.fetch({ ...FETCH, topics: asked.topics() });
    const found = new PartitionMap<FetchedPartition>();
    for (const { topicName: topic, partitions } of responses)
      for (const fetched of partitions) found.set({ topic, partition: fetched.partition }, fetched);
    return found;
  }
}

function answered(offset: number | undefined, { topic, partition }: TopicPartition): number {
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
    const ofTopic = this.#topics.get(topic) ?? new Map<number, Value>();
    this.#topics.set(topic, ofTopic.set(partition, value));
  }

  values(): Value[] {
    return this.topics().flatMap(({ partitions }) => partitions);
  }

  /** The values in the form of a request. */
  topics(): { topic: string; partitions: Value[] }[] {
    return [...this.#topics].map(([topic, ofTopic]) => {
      return { topic, partitions: [...ofTopic.values()] };
    });
  }
}
