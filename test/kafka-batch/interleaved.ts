import type { Kafka, Message, Transaction } from 'kafkajs';
import { transactionsEnded } from '../support/kafka-client.js';

/** The key by which kafkajs recognizes an abort marker. */
const ZEROS = Buffer.alloc(4);

interface Interleaved {
  /** The record of a step. */
  readonly message: (step: number) => Message;
  readonly steps: number;
  readonly random: () => number;
}

/**
 * Two transactional producers write partition 0 of a topic concurrently: each transaction has up to
 * four records, some with a key of four zero bytes, and is committed or aborted at random. Returns
 * the steps of the committed records, in the order of the log.
 */
export async function writeInterleaved(
  { kafka, name }: { kafka: Kafka; name: string },
  { message, steps, random }: Interleaved,
): Promise<number[]> {
  const ids = ['a', 'b'].map((id) => `${name}-${id}`);
  const writers = ids.map((transactionalId) => ({
    producer: kafka.producer({
      transactionalId,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20, retries: 20 },
    }),
    transaction: undefined as Transaction | undefined,
    steps: [] as number[],
  }));
  await Promise.all(writers.map(({ producer }) => producer.connect()));
  const committed: number[] = [];
  const end = async (writer: (typeof writers)[number], commit: boolean) => {
    await (commit ? writer.transaction?.commit() : writer.transaction?.abort());
    if (commit) committed.push(...writer.steps);
    writer.transaction = undefined;
    writer.steps = [];
  };
  for (let step = 0; step < steps; step++) {
    const writer = writers[Math.floor(random() * 2)]!;
    const transaction = (writer.transaction ??= await writer.producer.transaction());
    const key = random() < 0.3 ? ZEROS : null;
    const messages = [{ ...message(step), key, partition: 0 }];
    await transaction.send({ topic: name, messages });
    writer.steps.push(step);
    if (random() < 0.4 || writer.steps.length === 4) await end(writer, random() < 0.4);
  }
  for (const writer of writers) {
    await end(writer, false);
    await writer.producer.disconnect();
  }
  await transactionsEnded(kafka, ...ids);
  return committed.sort((one, other) => one - other);
}
