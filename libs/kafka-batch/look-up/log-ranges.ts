import type { Kafka } from 'kafkajs';
import { perClient } from '../kafkajs/batched.js';
import { isUnknownTopic } from '../kafkajs/errors.js';
import { leaderOf, oneCluster, withLeaders, type Leaders } from './shared-leaders.js';

/**
 * The offset after the last record of a partition, of open transactions too.
 * @throws if there is no such partition
 */
export async function writtenEnd(kafka: Kafka, topic: string, partition: number): Promise<number> {
  const of = { topic, partition };
  const written = (leaders: Leaders) => leaderOf(leaders, of).range(of, 'written');
  return (await withLeaders(kafka, topic, written)).end;
}

/** Number of partitions of a topic, 0 if the topic does not exist. */
export async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  try {
    return await withLeaders(kafka, topic, (leaders) => leaders.size, clusterOfCounts);
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
