import type { Admin, Kafka } from 'kafkajs';
import { perClient } from '../kafkajs/batched.js';
import { isUnknownTopic, TopicsMissingError } from '../kafkajs/kafka-errors.js';
import type { LogRange } from '../kafkajs/types.js';
import type { LogEnd } from './leader-lookups.js';
import { leaderOf, oneCluster, withLeaders } from './shared-leaders.js';
import { repeatWhile, whenKnown } from './when-known.js';

/** Brokers learn of a new topic one after the other. */
export const NEW_TOPIC_MS = 2_000;

/**
 * The range of each partition of a topic, in the order of the partitions.
 * Cost: a connection to each leader, and two requests, however many partitions it leads.
 * @throws UNKNOWN_TOPIC_OR_PARTITION after two seconds if the topic is missing, or another Kafka
 * error
 */
export function logRanges(
  kafka: Kafka,
  topic: string,
  end?: LogEnd,
): Promise<Map<number, LogRange>> {
  return whenKnown(() => rangesOf(kafka, topic, end), NEW_TOPIC_MS);
}

function rangesOf(kafka: Kafka, topic: string, end?: LogEnd): Promise<Map<number, LogRange>> {
  return withLeaders(kafka, topic, async (leaders) => {
    const ranges = [...leaders].map(async ([partition, leader]) => {
      return [partition, await leader.range({ topic, partition }, end)] as const;
    });
    return new Map(await Promise.all(ranges));
  });
}

/**
 * The range of one partition. Asks only its leader.
 * @throws if there is no such partition
 */
export function logRange(
  kafka: Kafka,
  topic: string,
  partition: number,
  end?: LogEnd,
): Promise<LogRange> {
  const topicPartition = { topic, partition };
  return withLeaders(kafka, topic, (leaders) => {
    const leader = leaderOf(leaders, topicPartition);
    return leader.range(topicPartition, end);
  });
}

/**
 * Waits up to `forMs` for topics that were just created.
 * @throws TopicsMissingError unless all topics exist
 */
export async function requireTopics(
  admin: Admin,
  topics: readonly string[],
  forMs = 0,
): Promise<void> {
  const isMissing = (error: unknown) => error instanceof TopicsMissingError;
  const look = async () => {
    const known = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !known.has(topic));
    if (missing.length > 0) throw new TopicsMissingError(missing);
  };
  await repeatWhile(isMissing, look, forMs);
}

/** Number of partitions of a topic, 0 if the topic does not exist. */
export async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  try {
    return await withLeaders(kafka, topic, (leaders) => leaders.size, clusterOfCounts(kafka));
  } catch (error) {
    if (isUnknownTopic(error)) return 0;
    throw error;
  }
}

/**
 * Counts of partitions share nothing with other look-ups: the metadata of a missing topic is slow
 * to read, and its error fails every request of the cluster.
 */
const clusterOfCounts = perClient(oneCluster);
