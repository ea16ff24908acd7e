import kafkajs, { type Kafka } from 'kafkajs';
import type { FetchedPartition } from 'kafkajs/src/broker/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { Batched, perClient } from '../kafkajs/batched.js';
import {
  createCluster,
  READ_COMMITTED,
  READ_UNCOMMITTED,
  SharedClusters,
  type ClusterLease,
} from '../kafkajs/cluster.js';
import { logBatch, type LogBatch } from '../kafkajs/committed-messages.js';
import { isUnknownTopic, UnreadableBatchError, type LogRange } from '../kafkajs/errors.js';
import type { KafkaRecord } from '../kafkajs/types.js';

const FIRST_STRIDE = 64;

/** The range of a partition, its record at an offset, if there is one, and how many partitions the topic has. */
export interface PartitionLook {
  readonly partitions: number;
  readonly range: LogRange;
  readonly record: KafkaRecord | undefined;
}

/** Number of partitions of a topic, 0 if the topic does not exist. */
export async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  try {
    return await lookUp(countsOf(kafka), topic, (leaders) => Promise.resolve(leaders.size));
  } catch (error) {
    if (isUnknownTopic(error)) return 0;
    throw error;
  }
}

/**
 * The last committed data record of a partition, if there is one. Searches backwards over control and aborted records,
 * in strides that double. Needs no group.
 */
export async function lastCommittedRecord(
  kafka: Kafka,
  topic: string,
  partition: number,
): Promise<KafkaRecord | undefined> {
  return lookUp(lookupsOf(kafka), topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) return undefined;
    const { start, end } = await leader.range(topic, partition);
    let to = end;
    for (let stride = FIRST_STRIDE; to > start; stride *= 2) {
      const from = Math.max(start, to - stride);
      const found = await lastRecord(leader, { topic, partition, offset: from });
      if (found !== undefined) return found;
      to = from;
    }
    return undefined;
  });
}

/**
 * The committed data records in the last `offsets` offsets of a partition; of fewer, if these hold more than 1 MiB. Tries half as
 * many until the response reaches the end of the partition. A larger record is returned only as the last one. Ends before a
 * batch that can't be read.
 */
export async function lastRecords(
  kafka: Kafka,
  topic: string,
  partition: number,
  offsets: number,
): Promise<readonly KafkaRecord[]> {
  return lookUp(lookupsOf(kafka), topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) return [];
    const { start, end } = await leader.range(topic, partition);
    let records: readonly KafkaRecord[] = [];
    for (let stride = Math.min(offsets, end - start); stride >= 1; stride /= 2) {
      const offset = end - Math.floor(stride);
      const batch = await leader.fetch({ topic, partition, offset }).catch(orUnreadable);
      if (batch instanceof UnreadableBatchError) break;
      if (batch && batch.records.length > 0) ({ records } = batch);
      if (batch && batch.nextOffset >= end) break;
    }
    return records;
  });
}

/** The offset after the last record of a partition, of open transactions too. @throws if there is no such partition */
export async function writtenEnd(kafka: Kafka, topic: string, partition: number): Promise<number> {
  return lookUp(lookupsOf(kafka), topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`);
    return leader.writtenEnd(topic, partition);
  });
}

/** Reads the range of a partition and its record at an offset, from its leader alone. @throws if there is no such partition */
export async function lookAt(
  kafka: Kafka,
  { topic, partition, offset }: { topic: string; partition: number; offset?: number | undefined },
): Promise<PartitionLook> {
  return lookUp(lookupsOf(kafka), topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`);
    const range = await leader.range(topic, partition);
    const partitions = leaders.size;
    if (offset === undefined || offset < range.start || offset >= range.end)
      return { range, partitions, record: undefined };
    const batch = await leader.fetch({ topic, partition, offset });
    const record = batch?.records.find((found) => found.offset === offset);
    return { range, partitions, record };
  });
}

/**
 * The batch that can't be read at which a reader stops that continues at an offset; undefined if it finds a record before, or the
 * end of the log. @throws if there is no such partition
 */
export async function unreadableFrom(
  kafka: Kafka,
  { topic, partition, offset }: FetchAsk,
): Promise<UnreadableBatchError | undefined> {
  return lookUp(lookupsOf(kafka), topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`);
    const { start } = await leader.range(topic, partition);
    for (let next = Math.max(offset, start); ;) {
      const ask = { topic, partition, offset: next };
      const batch = await leader.fetch(ask).catch(orUnreadable);
      if (batch instanceof UnreadableBatchError) return batch;
      if (batch === undefined || batch.records.length > 0) return undefined;
      next = batch.nextOffset;
    }
  });
}

/** Returns the error of a read that met a batch that can't be read. @throws any other */
export function orUnreadable(error: unknown): UnreadableBatchError {
  if (error instanceof UnreadableBatchError) return error;
  throw error;
}

type Leaders = ReadonlyMap<number, LeaderLookups>;

interface Lookup {
  readonly topic: string;
  readonly run: (leaders: Leaders) => Promise<unknown>;
}

type Lookups = Batched<Lookup, unknown>;

/** Concurrent look-ups share the connections of one cluster, and requests. */
const lookupsOf = perClient(createLookups);

/**
 * Counts of partitions share nothing with other look-ups: the metadata of a missing topic is slow to read, and
 * its error fails every request of the cluster.
 */
const countsOf = perClient(createLookups);

function createLookups(kafka: Kafka): Lookups {
  const clusters = new SharedClusters(() => createCluster(kafka), 1);
  return new Batched((lookups: readonly Lookup[]) => startAll(clusters, lookups));
}

function lookUp<T>(
  lookups: Lookups,
  topic: string,
  run: (leaders: Leaders) => Promise<T>,
): Promise<T> {
  return lookups.get({ topic, run }) as Promise<T>;
}

/** Starts all look-ups and does not wait for them: a leader that does not answer delays only its own look-ups. */
async function startAll(
  clusters: SharedClusters,
  lookups: readonly Lookup[],
): Promise<Map<Lookup, Promise<unknown>>> {
  const lease = await clusters.lease();
  const started = new Map<Lookup, Promise<unknown>>();
  try {
    const topics = [...new Set(lookups.map(({ topic }) => topic))];
    await lease.cluster.addMultipleTargetTopics(topics);
    await lease.cluster.refreshMetadata(); // leaders may have moved since another look-up opened the cluster
    const leaders = leadersOf(lease.cluster, topics);
    for (const lookup of lookups)
      started.set(lookup, lookup.run(leaders.get(lookup.topic) ?? new Map()));
    return started;
  } catch (error) {
    lease.retire();
    throw error;
  } finally {
    void releaseAfter(started.values(), lease);
  }
}

async function releaseAfter(work: Iterable<Promise<unknown>>, lease: ClusterLease): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  if (outcomes.some(({ status }) => status === 'rejected')) lease.retire();
  await lease.release().catch(() => undefined); // the look-ups are complete without it
}

/** Partitions with the same leader share one LeaderLookups. */
function leadersOf(cluster: Cluster, topics: readonly string[]): Map<string, Leaders> {
  const brokers = new Map<number, LeaderLookups>();
  const brokerOf = (nodeId: number) => {
    const broker = brokers.get(nodeId) ?? new LeaderLookups(cluster, nodeId);
    brokers.set(nodeId, broker);
    return broker;
  };
  const ofTopic = (topic: string) =>
    cluster
      .findTopicPartitionMetadata(topic)
      .map(({ partitionId, leader }) => [partitionId, brokerOf(leader)] as const);
  return new Map(topics.map((topic) => [topic, new Map(ofTopic(topic))]));
}

interface FetchAsk {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The last committed data record at or after an offset. */
async function lastRecord(leader: LeaderLookups, from: FetchAsk): Promise<KafkaRecord | undefined> {
  let last: KafkaRecord | undefined;
  for (let { offset } = from; ;) {
    const batch = await leader.fetch({ ...from, offset });
    if (batch === undefined) return last;
    last = batch.records.at(-1) ?? last;
    offset = batch.nextOffset;
  }
}

function answered(offset: number | undefined, name: string): number {
  if (offset !== undefined) return offset;
  throw new kafkajs.KafkaJSError(`Kafka left partition ${name} out of its response`);
}

const FETCH_BYTES = 1_048_576;
const FETCH = { isolationLevel: READ_COMMITTED, maxWaitTime: 0, minBytes: 0 };
const EARLIEST = '-2';
const LATEST = '-1';

/** Look-ups in the partitions that one broker leads. Concurrent ones share requests. */
export class LeaderLookups {
  readonly #starts = this.#offsets(EARLIEST);
  readonly #ends = this.#offsets(LATEST);
  readonly #writtenEnds = this.#offsets(LATEST, READ_UNCOMMITTED);
  readonly #fetches = new Batched((asks: readonly FetchAsk[]) => this.#requestFetches(asks));

  constructor(
    private readonly cluster: Cluster,
    private readonly nodeId: number,
  ) {}

  /** The first offset, and the end of the committed records. */
  async range(topic: string, partition: number): Promise<LogRange> {
    const name = `${topic} ${partition}`;
    const [start, end] = await Promise.all([this.#starts.get(name), this.#ends.get(name)]);
    return { start: answered(start, name), end: answered(end, name) };
  }

  /** The end of all records, also those of open transactions. */
  async writtenEnd(topic: string, partition: number): Promise<number> {
    const name = `${topic} ${partition}`;
    return answered(await this.#writtenEnds.get(name), name);
  }

  /** The committed records of a partition from an offset on; undefined if there is nothing. */
  async fetch(ask: FetchAsk): Promise<LogBatch | undefined> {
    const fetched = await this.#fetches.get(ask);
    return fetched && logBatch(fetched, ask.offset);
  }

  #offsets(timestamp: string, isolationLevel = READ_COMMITTED) {
    return new Batched(async (names: readonly string[]) => {
      const broker = await this.cluster.findBroker({ nodeId: this.nodeId });
      const topics = names.map((name) => {
        const [topic, partition] = name.split(' ');
        return { topic, partitions: [{ partition: Number(partition), timestamp }] };
      });
      const { responses } = await broker.listOffsets({ isolationLevel, topics });
      return new Map(
        responses.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset }) => [`${topic} ${partition}`, Number(offset)]),
        ),
      );
    });
  }

  /** Sends fetches, and repeats those that may be empty only because other fetches filled the response (of limited size). */
  async #requestFetches(asks: readonly FetchAsk[]): Promise<Map<FetchAsk, FetchedPartition>> {
    const answers = new Map<FetchAsk, FetchedPartition>();
    for (let open = [...asks]; open.length > 0; open = open.filter((ask) => !answers.has(ask))) {
      const round = new Map(open.map((ask) => [`${ask.topic} ${ask.partition}`, ask])); // each partition once
      const found = await this.#requestFetch([...round.values()]);
      const isAnyFilled = [...found.values()].some(({ messages }) => messages.length > 0);
      for (const [name, ask] of round) {
        const fetched = found.get(name) ?? { partition: ask.partition, messages: [] };
        if (fetched.messages.length > 0 || !isAnyFilled) answers.set(ask, fetched);
      }
    }
    return answers;
  }

  async #requestFetch(asks: readonly FetchAsk[]): Promise<Map<string, FetchedPartition>> {
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
