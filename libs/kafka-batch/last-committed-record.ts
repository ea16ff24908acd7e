import type { Kafka } from 'kafkajs';
import type { FetchResponse, RawMessage } from 'kafkajs/src/broker/index.js';
import { committedMessages } from './committed-messages.js';
import type { LogRange } from './errors.js';
import type { KafkaRecord } from './types.js';

/** What a broker answers for one partition. */
type FetchedPartition = FetchResponse['responses'][number]['partitions'][number];

interface Broker {
  fetch(request: object): Promise<FetchResponse>;
}
interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
  findBroker(node: { nodeId: number }): Promise<Broker>;
  fetchTopicsOffset(topics: object[]): Promise<{ partitions: { offset: string }[] }[]>;
}

const READ_COMMITTED = 1;
const FETCH_BYTES = 1_048_576;
const FIRST_STRIDE = 64;

/**
 * The last committed data record of a partition, undefined when it holds none. Steps back over control records and
 * aborted ones in strides that double. Needs no group: kafkajs can't read a given partition, so its internals do.
 */
export async function lastCommittedRecord(
  kafka: Kafka,
  topic: string,
  partition: number,
): Promise<KafkaRecord | undefined> {
  return withPartition(kafka, { topic, partition }, searchBack);
}

/** The record at an offset, undefined when there is none; the offset has to be within the log. */
export async function recordAt(
  kafka: Kafka,
  { topic, partition, offset }: { topic: string; partition: number; offset: number },
): Promise<KafkaRecord | undefined> {
  return withPartition(kafka, { topic, partition }, (reader) => reader.recordAt(offset));
}

/** Work on a partition, with connections of its own; undefined when it has no leader. */
async function withPartition<T>(
  kafka: Kafka,
  { topic, partition }: { topic: string; partition: number },
  work: (reader: PartitionReader, range: () => Promise<LogRange>) => Promise<T | undefined>,
): Promise<T | undefined> {
  const cluster = createCluster(kafka);
  await cluster.connect();
  try {
    await cluster.addTargetTopic(topic);
    const leader = cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition)?.leader;
    if (leader === undefined) return undefined;
    const broker = await cluster.findBroker({ nodeId: leader });
    const range = () => offsetRange(cluster, topic, partition);
    return await work(new PartitionReader(broker, topic, partition), range);
  } finally {
    await cluster.disconnect();
  }
}

/** The client's own way to make a connection with its settings; it has no public name. */
function createCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (symbol === undefined) throw new Error('this is not kafkajs 2.2.4: it has no createCluster');
  const create = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[symbol];
  if (create === undefined) throw new Error('this is not kafkajs 2.2.4: createCluster is empty');
  return create({ isolationLevel: READ_COMMITTED, metadataMaxAge: 300_000 });
}

async function offsetRange(cluster: Cluster, topic: string, partition: number): Promise<LogRange> {
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

async function searchBack(
  reader: PartitionReader,
  range: () => Promise<LogRange>,
): Promise<KafkaRecord | undefined> {
  const { start, end } = await range();
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
    private readonly broker: Broker,
    private readonly topic: string,
    private readonly partition: number,
  ) {}

  /** The last committed data record at or after an offset. */
  async lastRecord(from: number): Promise<KafkaRecord | undefined> {
    let last: KafkaRecord | undefined;
    let next = from;
    for (;;) {
      const fetched = await this.#fetch(next);
      const end = fetched.messages.at(-1);
      if (end === undefined) return last;
      const data = committedMessages(fetched).filter(({ offset }) => Number(offset) >= next);
      last = data.length > 0 ? toRecord(data.at(-1)) : last;
      next = Number(end.offset) + 1;
    }
  }

  async recordAt(offset: number): Promise<KafkaRecord | undefined> {
    const { messages } = await this.#fetch(offset);
    return toRecord(
      messages.find((message) => !message.isControlRecord && Number(message.offset) === offset),
    );
  }

  async #fetch(offset: number): Promise<FetchedPartition> {
    const partitions = [
      { partition: this.partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES },
    ];
    const { responses } = await this.broker.fetch({
      isolationLevel: READ_COMMITTED,
      maxWaitTime: 0,
      minBytes: 0,
      topics: [{ topic: this.topic, partitions }],
    });
    return responses[0]?.partitions[0] ?? { messages: [] };
  }
}

function toRecord(message: RawMessage | undefined): KafkaRecord | undefined {
  if (message === undefined) return undefined;
  const { offset, timestamp, key, value, headers } = message;
  return { offset: Number(offset), timestamp: Number(timestamp), key, value, headers };
}
