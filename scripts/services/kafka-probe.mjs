// @ts-check
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { withCleanUp } from '../clean-up.mjs';
import { ServiceError } from './say.mjs';

const { Kafka, Partitioners, logLevel } = kafkajs;

/**
 * Writes a record and reads it back. Throws unless Kafka does all of its work within 20 s: topics, produce, groups, fetch.
 * @param {string} brokers host:port, several separated by commas
 */
export function probeKafka(brokers) {
  return within(20_000, probe(quietKafka(brokers)));
}

/**
 * Throws unless Kafka answers within 5 s.
 * @param {string} brokers
 */
export function pingKafka(brokers) {
  return within(
    5_000,
    withClient(quietKafka(brokers).admin(), (admin) => admin.describeCluster()),
  );
}

/**
 * A Kafka client for short requests: it gives up soon and logs nothing.
 * @param {string} brokers host:port, several separated by commas
 */
export function quietKafka(brokers) {
  return new Kafka({
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { retries: 2, initialRetryTime: 100 },
  });
}

/** @param {import('kafkajs').Kafka} kafka */
function probe(kafka) {
  const topic = `ranklog-probe-${randomUUID()}`;
  return withClient(kafka.admin(), async (admin) => {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    const work = async () => {
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await withClient(producer, () => producer.send({ topic, messages: [{ value: 'probe' }] }));
      await readBack(kafka, topic);
      await admin.deleteGroups([topic]);
    };
    await withCleanUp(work, () => admin.deleteTopics({ topics: [topic] }));
  });
}

/** @param {import('kafkajs').Kafka} kafka @param {string} topic */
function readBack(kafka, topic) {
  return withClient(kafka.consumer({ groupId: topic, maxWaitTimeInMs: 100 }), async (consumer) => {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise((resolve, reject) => {
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      const eachMessage = (/** @type {unknown} */ message) => {
        resolve(message);
        return Promise.resolve();
      };
      consumer.run({ eachMessage }).catch(reject);
    });
  });
}

/**
 * @template {{ connect(): Promise<void>, disconnect(): Promise<void> }} Client
 * @template T
 * @param {Client} connection @param {(client: Client) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withClient(connection, work) {
  const connected = async () => {
    await connection.connect();
    return work(connection);
  };
  return withCleanUp(connected, () => connection.disconnect());
}

/**
 * @template T
 * @param {number} ms @param {Promise<T>} work
 * @returns {Promise<T>}
 */
function within(ms, work) {
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new ServiceError(`no answer within ${ms / 1000} s`);
  });
  return Promise.race([work, late]);
}
