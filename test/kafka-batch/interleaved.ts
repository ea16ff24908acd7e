import type { Message, Transaction } from 'kafkajs';
import { transactionsEnded } from '../support/transactions.js';
import { transactional } from './collector.js';
import type { TestTopic } from './topic.js';

/** As kafkajs knows the end of an aborted transaction. */
export const ZEROS = Buffer.alloc(4);

interface Interleaved {
  /** What each record says; must not change the order. */
  readonly message: (count: number) => Message;
  readonly steps: number;
  readonly random: () => number;
}

/**
 * Two transactional producers write partition 0 of a topic at the same time: each transaction has up to four records,
 * some with a key of four zero bytes, and is committed or aborted by chance. Gives the counts of the committed
 * records, as they lie in the log.
 */
export async function writeInterleaved(
  topic: TestTopic,
  { message, steps, random }: Interleaved,
): Promise<number[]> {
  const ids = ['a', 'b'].map((id) => `${topic.name}-${id}`);
  const producers = await Promise.all(ids.map((id) => transactional(topic.kafka, id)));
  const open = new Map<number, { transaction: Transaction; counts: number[] }>();
  const committed: number[] = [];
  const end = async (writer: number, commit: boolean) => {
    const { transaction, counts } = open.get(writer) ?? {};
    open.delete(writer);
    await (commit ? transaction?.commit() : transaction?.abort());
    if (commit) committed.push(...(counts ?? []));
  };
  for (let count = 0; count < steps; count++) {
    const writer = Math.floor(random() * 2);
    const producer = producers[writer];
    if (producer === undefined) throw new Error('there are two producers');
    const at = open.get(writer) ?? { transaction: await producer.transaction(), counts: [] };
    open.set(writer, at);
    const key = random() < 0.3 ? ZEROS : null;
    await at.transaction.send({
      topic: topic.name,
      messages: [{ ...message(count), key, partition: 0 }],
    });
    at.counts.push(count);
    if (random() < 0.4 || at.counts.length === 4) await end(writer, random() < 0.4);
  }
  for (const writer of [...open.keys()]) await end(writer, false);
  await Promise.all(producers.map((producer) => producer.disconnect()));
  await transactionsEnded(topic.kafka, ...ids);
  return committed.sort((one, other) => one - other);
}
