import kafkajs from 'kafkajs';
import { Batched } from './batched.js';
import { READ_COMMITTED, type Cluster, type FetchedPartition } from './cluster.js';
import type { LogRange } from './errors.js';

interface FetchAsk {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

const FETCH_BYTES = 1_048_576;
const FETCH = { isolationLevel: READ_COMMITTED, maxWaitTime: 0, minBytes: 0 };
const EARLIEST = '-2';
const LATEST = '-1';

/** Looks into partitions led by one broker. Concurrent look-ups share one request. */
export class LeaderLookups {
  readonly #starts = new Batched((names: readonly string[]) => this.#offsets(names, EARLIEST));
  readonly #ends = new Batched((names: readonly string[]) => this.#offsets(names, LATEST));
  /** The contents of a partition from an offset, with control records. */
  readonly fetches = new Batched((asks: readonly FetchAsk[]) => this.#fetches(asks));

  constructor(
    private readonly cluster: Cluster,
    private readonly nodeId: number,
  ) {}

  /** The first offset of a partition, and the offset after the last committed record. */
  async range(topic: string, partition: number): Promise<LogRange> {
    const name = `${topic} ${partition}`;
    const [start, end] = await Promise.all([this.#starts.get(name), this.#ends.get(name)]);
    if (start === undefined || end === undefined)
      throw new kafkajs.KafkaJSError(`Kafka left ${topic}/${partition} out of its response`);
    return { start, end };
  }

  async #offsets(names: readonly string[], timestamp: string): Promise<Map<string, number>> {
    const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
    const topics = names.map((name) => {
      const [topic, partition] = name.split(' ');
      return { topic, partitions: [{ partition: Number(partition), timestamp }] };
    });
    const { responses } = await broker.listOffsets({ isolationLevel: READ_COMMITTED, topics });
    return new Map(
      responses.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => [`${topic} ${partition}`, Number(offset)]),
      ),
    );
  }

  /** A response has a size limit: a partition may come back empty because others filled it. Then it is asked for again. */
  async #fetches(asks: readonly FetchAsk[]): Promise<Map<FetchAsk, FetchedPartition>> {
    const answers = new Map<FetchAsk, FetchedPartition>();
    for (let open = [...asks]; open.length > 0; open = open.filter((ask) => !answers.has(ask))) {
      const turn = new Map(open.map((ask) => [`${ask.topic} ${ask.partition}`, ask])); // a request names a partition once
      const found = await this.#fetch([...turn.values()]);
      const isAnyFilled = [...found.values()].some(({ messages }) => messages.length > 0);
      for (const [name, ask] of turn) {
        const fetched = found.get(name) ?? { partition: ask.partition, messages: [] };
        if (fetched.messages.length > 0 || !isAnyFilled) answers.set(ask, fetched);
      }
    }
    return answers;
  }

  async #fetch(asks: readonly FetchAsk[]): Promise<Map<string, FetchedPartition>> {
    const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
    const topics = asks.map(({ topic, partition, offset }) => ({
      topic,
      partitions: [{ partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES }],
    }));
    const { responses } = await broker.fetch({ ...FETCH, topics });
    return new Map(
      responses.flatMap(({ topicName, partitions }) =>
        partitions.map((found) => [`${topicName} ${found.partition}`, found]),
      ),
    );
  }
}
