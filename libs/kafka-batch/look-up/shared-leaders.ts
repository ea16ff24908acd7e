import type { Kafka } from 'kafkajs';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { Batched, perClient } from '../kafkajs/batched.js';
import { createCluster, SharedClusters } from '../kafkajs/cluster.js';
import { isNotLeader } from '../kafkajs/kafka-errors.js';
import type { TopicPartition } from '../kafkajs/types.js';
import { LeaderLookups } from './leader-lookups.js';
import { repeatWhile } from './when-known.js';

/** How long to retry: clients may learn of a new leader before the leader itself does. */
const NO_LEADER_FOR_MS = 2_000;

/** The leader of each partition of a topic, in the order of the partitions. */
export type Leaders = ReadonlyMap<number, LeaderLookups>;

/**
 * Looks something up in the leaders of a topic. Concurrent look-ups of a client share connections
 * and requests; a leader that does not answer delays only the look-ups that ask it. While a broker
 * says that it is not the leader, the look-up is repeated, for two seconds at most.
 */
export function withLeaders<T>(
  kafka: Kafka,
  topic: string,
  lookUp: (leaders: Leaders) => Promise<T> | T,
  clusters = sharedCluster(kafka),
): Promise<T> {
  const attempt = () => askLeaders(clusters, topic, lookUp);
  return repeatWhile(isNotLeader, attempt, NO_LEADER_FOR_MS);
}

async function askLeaders<T>(
  clusters: SharedClusters,
  topic: string,
  lookUp: (leaders: Leaders) => Promise<T> | T,
): Promise<T> {
  const lease = await clusters.lease();
  try {
    const leaders = await leadersIn(lease.cluster).get(topic);
    return await lookUp(leaders ?? new Map());
  } catch (error) {
    lease.retire();
    throw error;
  } finally {
    lease.release().catch(() => undefined); // not awaited: the result does not depend on it
  }
}

/** @throws if the topic has no such partition */
export function leaderOf(leaders: Leaders, { topic, partition }: TopicPartition): LeaderLookups {
  const leader = leaders.get(partition);
  if (leader !== undefined) return leader;
  throw new Error(`Kafka has no partition ${partition} of ${topic}`);
}

const sharedCluster = perClient(oneCluster);

/** Has at most one open cluster, and none while no look-up runs. */
export function oneCluster(kafka: Kafka): SharedClusters {
  return new SharedClusters(() => createCluster(kafka), 1);
}

/** Per cluster: look-ups made at the same time share one metadata request. */
const leadersIn = perClient(
  (cluster: Cluster) => new Batched((topics: readonly string[]) => readLeaders(cluster, topics)),
);

async function readLeaders(
  cluster: Cluster,
  topics: readonly string[],
): Promise<Map<string, Leaders>> {
  await cluster.addMultipleTargetTopics(topics);
  // Leaders may have moved since another look-up opened the cluster.
  await cluster.refreshMetadata();
  const brokers = new Map<number, LeaderLookups>();
  const found = new Map<string, Leaders>();
  for (const topic of topics) {
    const leaders = new Map<number, LeaderLookups>();
    found.set(topic, leaders);
    const metadata = cluster.findTopicPartitionMetadata(topic);
    for (const { partitionId, leader } of byPartition(metadata)) {
      const broker = brokers.get(leader) ?? new LeaderLookups(cluster, leader);
      brokers.set(leader, broker);
      leaders.set(partitionId, broker);
    }
  }
  return found;
}

type Metadata = ReturnType<Cluster['findTopicPartitionMetadata']>;

function byPartition(metadata: Metadata): Metadata {
  return metadata.toSorted((one, other) => one.partitionId - other.partitionId);
}
