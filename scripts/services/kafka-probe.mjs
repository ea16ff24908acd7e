// @ts-check
import { randomUUID } from 'node:crypto';
import kafkajs from 'kafkajs';

const { Kafka, Partitioners, logLevel } = kafkajs;

/** @param {string} brokers host:port, several separated by commas */
export function quietKafka(brokers) {
  return new Kafka({
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    retry: { retries: 2, initialRetryTime: 100 },
  });
}

/**
 * Writes a record and reads it back. Throws unless Kafka does all of its work: topics, produce, groups, fetch.
 * @param {string} brokers
 */
export async function probeKafka(brokers) {
  const kafka = quietKafka(brokers);
  const admin = kafka.admin();
  const topic = `ranklog-probe-${randomUUID()}`;
  await admin.connect();
  try {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await produce(kafka, topic);
    await readBack(kafka, topic);
    await admin.deleteGroups([topic]);
    await admin.deleteTopics({ topics: [topic] });
  } finally {
    await admin.disconnect();
  }
}

/** @param {import('kafkajs').Kafka} kafka @param {string} topic */
async function produce(kafka, topic) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: [{ value: 'probe' }] });
  await producer.disconnect();
}

/** @param {import('kafkajs').Kafka} kafka @param {string} topic */
async function readBack(kafka, topic) {
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('the record was not read back')), 15_000).unref();
      void consumer
        .run({
          eachMessage: () => {
            resolve(undefined);
            return Promise.resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
}

/**
 * Throws unless Kafka answers.
 * @param {string} brokers
 */
export async function pingKafka(brokers) {
  const admin = quietKafka(brokers).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}
