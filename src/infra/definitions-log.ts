import type { Kafka } from 'kafkajs';
import { decodeSkippedBatch, type SkippedBatch } from '#contracts';
import {
  isUnknownTopic,
  KafkaUnreachableError,
  logRanges,
  passOver,
  PermanentPartitionError,
  readRanges,
  UnreadableBatchError,
  whenKnown,
  type KafkaRecord,
  type LogRange,
} from '#kafka-batch';
import type { KafkaConnection } from './kafka.js';

const READ_TIMEOUT_MS = 10_000;
/**
 * After this many rounds without a record, though all brokers answered, compaction must have
 * removed the last records.
 */
const QUIET_ROUNDS = 5;

export type Ranges = ReadonlyMap<number, LogRange>;

/** A batch of the definitions topic can't be read, so no process of ranklog starts. */
export class UnreadableDefinitionsError extends PermanentPartitionError {
  constructor(error: UnreadableBatchError) {
    const { topic, partition, first, last } = error.batch;
    super(
      `${topic}/${partition} cannot be read from offset ${first} to ${last}: these records are ${error.cause.message}. ` +
        'Ranklog needs the records behind them. Delete the records up to it: ' +
        'see "A batch of definitions that cannot be read" in docs/operations.md',
      { cause: error },
    );
  }
}

/**
 * Reads the definitions topic. Cost: connections of its own.
 * @throws UnreadableDefinitionsError, KafkaUnreachableError after READ_TIMEOUT_MS, and errors of
 * Kafka
 */
export async function* definitionsLog(
  kafka: Kafka,
  topic: string,
  ranges: Ranges,
): AsyncGenerator<{ partition: number; record: KafkaRecord }> {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  let quiet = 0;
  try {
    for await (const round of readRanges(ranges, { kafka, topic, signal })) {
      quiet = round.length > 0 ? 0 : quiet + 1;
      if (quiet === QUIET_ROUNDS) return;
      for (const { partition, records } of round)
        for (const record of records) yield { partition, record };
    }
  } catch (error) {
    if (error instanceof UnreadableBatchError) throw new UnreadableDefinitionsError(error);
    if (!signal.aborted) throw error;
    const problem = new Error(`${topic} was not read to its end`, { cause: error });
    throw new KafkaUnreachableError(READ_TIMEOUT_MS, problem);
  }
}

type Clients = Pick<KafkaConnection, 'kafka' | 'topics'>;

/**
 * The ranges of the definitions topic. Waits up to ten seconds for a topic that Kafka does not
 * know.
 * @throws errors of Kafka
 */
export function definitionsRanges({ kafka, topics }: Clients): Promise<Ranges> {
  return whenKnown(() => logRanges(kafka, topics.definitions));
}

/** Of each client, the batches that were given up when it was asked first. */
const skippedBatches = new WeakMap<Kafka, Promise<SkippedBatch[]>>();

/**
 * Makes all readers of this process pass over the batches that were given up by `ranklog skip`.
 * Every process calls it before it reads the score topic: otherwise a version that can read such a
 * batch would build other boards than one that can't. Returns these batches. Cost: the first call
 * reads the definitions topic.
 */
export function passOverSkipped(clients: Clients): Promise<SkippedBatch[]> {
  const { kafka } = clients;
  const skipped = skippedBatches.get(kafka) ?? readSkipped(clients);
  skippedBatches.set(kafka, skipped);
  return skipped;
}

async function readSkipped(clients: Clients): Promise<SkippedBatch[]> {
  const { kafka, topics } = clients;
  const skipped: SkippedBatch[] = [];
  try {
    const ranges = await definitionsRanges(clients);
    for await (const { record } of definitionsLog(kafka, topics.definitions, ranges)) {
      const batch = decodeSkippedBatch(record);
      if (batch !== undefined) skipped.push(batch);
    }
  } catch (error) {
    if (!isUnknownTopic(error)) throw error; // without the topic, nothing was given up
  }
  passOver(skipped.map((batch) => ({ topic: topics.scoreEvents, ...batch })));
  return skipped;
}
