// @ts-check
// What the peers have in common. Each is a process of its own, `node FILE JSON`. It prints `first
// N` once it has applied its first N events and `last` once it has applied all, and runs until it
// is killed.
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';

/**
 * @typedef {{ topics: { scoreEvents: string, rankChanges: string }, name: string, events: number |
 * null }} Task null: never ends
 */
/** @typedef {{ playerId: string, delta: number }} Event */

/** @returns {Task} the task of the process */
export function task() {
  /** @type {unknown} */
  const told = JSON.parse(process.argv[2] ?? '');
  return /** @type {Task} */ (told);
}

export function brokers() {
  return (process.env['KAFKA_BROKERS'] ?? '').split(',');
}

export function newRedis() {
  return new Redis(process.env['REDIS_URL'] ?? '');
}

process.on('disconnect', () => process.exit()); // the bench was killed

let done = 0;

/** Counts events that are applied. @param {number} count @param {Task} task */
export function applied(count, { events }) {
  if (done === 0) console.log(`first ${count}`);
  done += count;
  if (done === events) console.log('last');
}

export function newKafka() {
  return new Kafka({ brokers: brokers(), logLevel: logLevel.NOTHING });
}

/**
 * Reads the score topic with the fastest loop of kafkajs: whole batches, partitions side by side,
 * no commits by kafkajs.
 * @param {Kafka} kafka @param {Task} task @param {(batch: import('kafkajs').Batch) =>
 * Promise<void>} handle
 */
export async function consume(kafka, task, handle) {
  const consumer = kafka.consumer({ groupId: task.name, maxWaitTimeInMs: 100 });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    throw payload.error;
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [task.topics.scoreEvents], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: 16,
    eachBatch: async ({ batch }) => {
      await handle(batch);
      applied(batch.messages.length, task);
    },
  });
}

/** @param {import('kafkajs').KafkaMessage} message @returns {Event} */
export function toEvent({ value }) {
  /** @type {unknown} */
  const event = JSON.parse(value?.toString() ?? '');
  return /** @type {Event} */ (event);
}
