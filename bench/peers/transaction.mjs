// @ts-check
// What Kafka and kafkajs take for exactly once alone: a loop that copies each batch as it comes, in
// one transaction with its offset. No parsing, no Redis.
import { consume, newKafka, task } from './peer.mjs';

const { name, topics, events } = task();
const kafka = newKafka();
/** @type {Map<number, Promise<import('kafkajs').Producer>>} */
const producers = new Map();

await consume(kafka, { name, topics, events }, async (batch) => {
  const { partition, messages } = batch;
  if (!producers.has(partition)) producers.set(partition, newProducer(partition));
  const transaction = await (await producers.get(partition))?.transaction();
  await transaction?.send({
    topic: topics.rankChanges,
    messages: messages.map(({ key, value }) => ({ key, value, partition })),
  });
  const offset = String(Number(batch.lastOffset()) + 1);
  await transaction?.sendOffsets({
    consumerGroupId: name,
    topics: [{ topic: topics.scoreEvents, partitions: [{ partition, offset }] }],
  });
  await transaction?.commit();
});

/** @param {number} partition */
async function newProducer(partition) {
  const producer = kafka.producer({
    transactionalId: `${name}-${partition}`,
    maxInFlightRequests: 1,
    idempotent: true,
    // kafkajs waits 300 ms by default while the previous transaction ends.
    retry: { initialRetryTime: 5, retries: 20 },
  });
  await producer.connect();
  return producer;
}
