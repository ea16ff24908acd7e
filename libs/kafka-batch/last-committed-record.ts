import type { Kafka } from 'kafkajs';
import {
  createCluster,
  offsetRange,
  READ_COMMITTED,
  toRecord,
  type Broker,
  type FetchedPartition,
} from './cluster.js';
import { committedMessages } from './committed-messages.js';
import type { LogRange } from './errors.js';
import type { KafkaRecord } from './types.js';

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
    const partitions = [
      { partition: this.partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES },
    ];
    const { responses } = await this.broker.fetch({
      isolationLevel: READ_COMMITTED,
      maxWaitTime: 0,
      minBytes: 0,
      topics: [{ topic: this.topic, partitions }],
    });
    return responses[0]?.partitions[0] ?? { partition: this.partition, messages: [] };
  }
}
