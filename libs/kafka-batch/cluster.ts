import type { Kafka, KafkaMessage, Producer, ProducerConfig } from 'kafkajs';
import type { FetchResponse, RawMessage } from 'kafkajs/src/broker/index.js';
import type { KafkaRecord } from './types.js';

/** What a broker answers for one partition. */
export type FetchedPartition = FetchResponse['responses'][number]['partitions'][number];

interface Broker {
  fetch(request: object): Promise<FetchResponse>;
  listOffsets(request: object): Promise<{
    responses: { topic: string; partitions: { partition: number; offset: string }[] }[];
  }>;
}

/** The connections of a kafkajs client to all brokers, as it has them under its consumers. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
  findBroker(node: { nodeId: number }): Promise<Broker>;
}

export const READ_COMMITTED = 1;

/** The client's own way to make a connection with its settings; it has no public name. Makes no topics. */
export function createCluster(kafka: Kafka): Cluster {
  const create = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[
    createClusterSymbol(kafka)
  ];
  if (create === undefined) throw new Error('this is not kafkajs 2.2.4: createCluster is empty');
  return create({
    isolationLevel: READ_COMMITTED,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
  });
}

/**
 * A producer on shared connections. Never disconnect it: that would disconnect the cluster. kafkajs keeps the state of a
 * transaction (producer id, epoch, sequences, locks) per producer.
 */
export function producerOn(kafka: Kafka, cluster: Cluster, config: ProducerConfig): Producer {
  const sharing = { [createClusterSymbol(kafka)]: { value: () => cluster } };
  return (Object.create(kafka, sharing) as Kafka).producer(config);
}

function createClusterSymbol(kafka: Kafka): symbol {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (symbol === undefined) throw new Error('this is not kafkajs 2.2.4: it has no createCluster');
  return symbol;
}

/** A record as handlers get it: offset and timestamp are numbers. */
export function toRecord(message: RawMessage | KafkaMessage): KafkaRecord {
  const { offset, timestamp, key, value, headers = {} } = message;
  return { offset: Number(offset), timestamp: Number(timestamp), key, value, headers };
}
