import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import {
  KafkaUnreachableError,
  logRanges,
  PermanentPartitionError,
  readRanges,
  UnreadableBatchError,
  whenKnown,
  type KafkaRecord,
  type LogRange,
} from '#kafka-batch';
import type { KafkaConnection } from './kafka.js';

const READ_TIMEOUT_MS = 10_000;
/** After this many rounds without a record, compaction must have removed the last records. */
const QUIET_ROUNDS = 5;

export type Ranges = ReadonlyMap<number, LogRange>;

/** A batch of the definitions topic can't be read, so no process of ranklog starts. */
class UnreadableDefinitionsError extends PermanentPartitionError {
  constructor(error: UnreadableBatchError) {
    const { topic, partition, first, last } = error.batch;
    super(
      `${topic}/${partition} cannot be read from offset ${first} to ${last}: these records are ` +
        `${error.cause.message}. Ranklog needs the records behind them. Delete the records up to ` +
        'it: see "A batch of definitions that cannot be read" in docs/operations.md',
      { cause: error },
    );
  }
}

/**
 * Reads the definitions topic.
 * Cost: new connections.
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

/** Kafka ends transactions of dead processes after 15 s, and searches for them every 10 s. */
const OPEN_TRANSACTION_MS = 30_000;
const POLL_MS = 100;

/**
 * The ranges of the definitions topic. Announcements are transactions, and records behind an open
 * transaction can't be read. So this waits until the transactions that are open now have ended.
 * Also waits up to ten seconds for a topic that Kafka does not know.
 * @throws KafkaUnreachableError after OPEN_TRANSACTION_MS, and errors of Kafka
 */
export async function definitionsRanges({ kafka, topics }: Clients): Promise<Ranges> {
  const topic = topics.definitions;
  const ranges = await whenKnown(() => logRanges(kafka, topic, 'written'));
  const deadline = performance.now() + OPEN_TRANSACTION_MS;
  for (;;) {
    const readable = await logRanges(kafka, topic);
    const isOpen = [...ranges].some(([id, { end }]) => (readable.get(id)?.end ?? 0) < end);
    if (!isOpen) return ranges;

    if (performance.now() >= deadline) {
      const problem = new Error(`a transaction of ${topic} is open`);
      throw new KafkaUnreachableError(OPEN_TRANSACTION_MS, problem);
    }
    await delay(POLL_MS);
  }
}
