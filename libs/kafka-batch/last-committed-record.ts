import type { Kafka } from 'kafkajs';
import { Batched, perClient } from './batched.js';
import { createCluster, toRecord, type Cluster, type FetchedPartition } from './cluster.js';
import { committedMessages } from './committed-messages.js';
import type { LogRange } from './errors.js';
import { LeaderLookups } from './leader-lookups.js';
import { SharedClusters, type Lease } from './shared-clusters.js';
import type { KafkaRecord } from './types.js';

const FIRST_STRIDE = 64;

interface Lookup {
  readonly topic: string;
  readonly partition: number;
  readonly work: (reader: PartitionReader) => Promise<unknown>;
}

/** Concurrent look-ups share one cluster and requests. */
const lookupsOf = perClient((kafka: Kafka) => {
  const clusters = new SharedClusters(() => createCluster(kafka), 1);
  return new Batched((lookups: readonly Lookup[]) => lookUp(clusters, lookups));
});

/**
 * The last committed data record of a partition, undefined when it holds none. Steps back over control records and
 * aborted ones in strides that double. Needs no group: kafkajs can't read a given partition, so its internals do.
 */
export async function lastCommittedRecord(
  kafka: Kafka,
  topic: string,
  partition: number,
): Promise<KafkaRecord | undefined> {
  return lookupsOf(kafka).get({ topic, partition, work: searchBack }) as Promise<
    KafkaRecord | undefined
  >;
}

/** What a partition holds, and its record at an offset; undefined when none is there. One request each to its leader. */
export interface PartitionLook {
  readonly range: LogRange;
  readonly record: KafkaRecord | undefined;
}

/** Asks the leader of one partition, so trouble of other leaders does not matter. @throws when there is no such partition */
export async function lookAt(
  kafka: Kafka,
  { topic, partition, offset }: { topic: string; partition: number; offset?: number | undefined },
): Promise<PartitionLook> {
  const work = async (reader: PartitionReader): Promise<PartitionLook> => {
    const range = await reader.range();
    const isHeld = offset !== undefined && offset >= range.start && offset < range.end;
    return { range, record: isHeld ? await reader.recordAt(offset) : undefined };
  };
  const found = await lookupsOf(kafka).get({ topic, partition, work });
  if (found === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`);
  return found as PartitionLook;
}

/**
 * Starts all look-ups and does not wait for them: a leader that does not answer delays only its own.
 * The result has no entry for a partition that does not exist.
 */
async function lookUp(
  clusters: SharedClusters,
  lookups: readonly Lookup[],
): Promise<Map<Lookup, Promise<unknown>>> {
  const lease = await clusters.lease();
  const started = new Map<Lookup, Promise<unknown>>();
  try {
    await lease.cluster.addMultipleTargetTopics(lookups.map(({ topic }) => topic));
    await lease.cluster.refreshMetadata(); // others may have opened it before the leaders moved
    const leaderOf = leadersOf(lease.cluster);
    for (const lookup of lookups) {
      const leader = leaderOf(lookup);
      if (leader === undefined) continue;
      const reader = new PartitionReader(leader, lookup.topic, lookup.partition);
      started.set(lookup, lookup.work(reader));
    }
    return started;
  } catch (error) {
    lease.retire();
    throw error;
  } finally {
    void releaseAfter(started.values(), lease);
  }
}

async function releaseAfter(work: Iterable<Promise<unknown>>, lease: Lease): Promise<void> {
  const ends = await Promise.allSettled(work);
  if (ends.some(({ status }) => status === 'rejected')) lease.retire();
  await lease.release().catch(() => undefined); // the answers are complete without it
}

function leadersOf(cluster: Cluster): (of: Lookup) => LeaderLookups | undefined {
  const leaders = new Map<number, LeaderLookups>();
  return ({ topic, partition }) => {
    const found = cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    if (found === undefined) return undefined;
    const nodeId = found.leader;
    const leader = leaders.get(nodeId) ?? new LeaderLookups(cluster, nodeId);
    leaders.set(nodeId, leader);
    return leader;
  };
}

async function searchBack(reader: PartitionReader): Promise<KafkaRecord | undefined> {
  const { start, end } = await reader.range();
  let to = end;
  for (let stride = FIRST_STRIDE; to > start; stride *= 2) {
    const from = Math.max(start, to - stride);
    const found = await reader.lastRecord(from);
    if (found !== undefined) return found;
    to = from;
  }
  return undefined;
}

/** Reads committed records of one partition from its leader. */
class PartitionReader {
  constructor(
    private readonly leader: LeaderLookups,
    private readonly topic: string,
    private readonly partition: number,
  ) {}

  range(): Promise<LogRange> {
    return this.leader.range(this.topic, this.partition);
  }

  /** The last committed data record at or after an offset. */
  async lastRecord(from: number): Promise<KafkaRecord | undefined> {
    let last: KafkaRecord | undefined;
    let next = from;
    for (;;) {
      const fetched = await this.#fetch(next);
      const end = fetched.messages.at(-1);
      if (end === undefined) return last;
      const data = committedMessages(fetched).filter(({ offset }) => Number(offset) >= next);
      const lastOfThem = data.at(-1);
      if (lastOfThem !== undefined) last = toRecord(lastOfThem);
      next = Number(end.offset) + 1;
    }
  }

  async recordAt(offset: number): Promise<KafkaRecord | undefined> {
    const { messages } = await this.#fetch(offset);
    const found = messages.find(
      (message) => !message.isControlRecord && Number(message.offset) === offset,
    );
    return found && toRecord(found);
  }

  async #fetch(offset: number): Promise<FetchedPartition> {
    const { topic, partition } = this;
    const fetched = await this.leader.fetches.get({ topic, partition, offset });
    return fetched ?? { partition, messages: [] };
  }
}
