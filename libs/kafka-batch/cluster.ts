import type { Kafka } from 'kafkajs';
import type { FetchResponse, RawMessage } from 'kafkajs/src/broker/index.js';
import type { LogRange } from './errors.js';
import type { KafkaRecord } from './types.js';

/** What a broker answers for one partition. */
export type FetchedPartition = FetchResponse['responses'][number]['partitions'][number];

export interface Broker {
  fetch(request: object): Promise<FetchResponse>;
}

/** The connections of a kafkajs client to all brokers, as it has them under its consumers. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
  findBroker(node: { nodeId: number }): Promise<Broker>;
  fetchTopicsOffset(topics: object[]): Promise<{ partitions: { offset: string }[] }[]>;
}

export const READ_COMMITTED = 1;

/** The client's own way to make a connection with its settings; it has no public name. Makes no topics. */
export function createCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (symbol === undefined) throw new Error('this is not kafkajs 2.2.4: it has no createCluster');
  const create = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[symbol];
  if (create === undefined) throw new Error('this is not kafkajs 2.2.4: createCluster is empty');
  return create({
    isolationLevel: READ_COMMITTED,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
  });
}

/** First offset of a partition, and the one behind the last that is committed. */
export async function offsetRange(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<LogRange> {
  const [start, end] = await Promise.all(
    [true, false].map(async (fromBeginning) => {
      const [found] = await cluster.fetchTopicsOffset([
        { topic, partitions: [{ partition }], fromBeginning },
      ]);
      return Number(found?.partitions[0]?.offset ?? 0);
    }),
  );
  return { start: start ?? 0, end: end ?? 0 };
}

export function toRecord({ offset, timestamp, key, value, headers }: RawMessage): KafkaRecord {
  return { offset: Number(offset), timestamp: Number(timestamp), key, value, headers };
}
