import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Admin, type Consumer, type Kafka as KafkaClient } from 'kafkajs';
import { ServersError } from './servers-error.js';

const { Kafka, Partitioners, logLevel } = kafkajs;

/** An admin client, a producer or a consumer. */
interface Connectable {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

/**
 * Creates a topic, writes a record and reads it back in a group.
 * @param brokers host:port, several separated by commas
 * @throws unless Kafka does all of this within 20 s
 */
export function probeKafka(brokers: string): Promise<void> {
  return within(20_000, probe(quietKafka(brokers)));
}

/**
 * Asks Kafka for its brokers.
 * @param brokers host:port, several separated by commas
 * @throws unless Kafka answers within 5 s
 */
export async function pingKafka(brokers: string): Promise<void> {
  const admin = quietKafka(brokers).admin();
  const answer = withClient(admin, () => admin.describeCluster());
  await within(5_000, answer);
}

/** A Kafka client for short requests: it gives up soon and logs nothing. */
function quietKafka(brokers: string): KafkaClient {
  return new Kafka({
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { retries: 2, initialRetryTime: 100 },
  });
}

function probe(kafka: KafkaClient): Promise<void> {
  const admin = kafka.admin();
  return withClient(admin, () => probeTopic(kafka, admin));
}

/** Creates a topic, writes and reads a record, and deletes the topic. */
async function probeTopic(kafka: KafkaClient, admin: Admin): Promise<void> {
  const topic = `ranklog-probe-${randomUUID()}`;
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  try {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await withClient(producer, () => producer.send({ topic, messages: [{ value: 'probe' }] }));

    const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 100 });
    await withClient(consumer, () => firstMessage(consumer, topic));
    await admin.deleteGroups([topic]);
  } finally {
    await quietly(admin.deleteTopics({ topics: [topic] }));
  }
}

/** Resolves when the consumer gets a message of the topic. */
async function firstMessage(consumer: Consumer, topic: string): Promise<void> {
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
    const eachMessage = () => {
      resolve();
      return Promise.resolve();
    };
    consumer.run({ eachMessage }).catch(reject);
  });
}

/** Connects a client for some work, and disconnects it afterwards. */
async function withClient<T>(client: Connectable, work: () => Promise<T>): Promise<T> {
  try {
    await client.connect();
    return await work();
  } finally {
    await quietly(client.disconnect());
  }
}

/** Waits for a clean-up, and ignores its failure, which would hide the first error. */
async function quietly(cleanUp: Promise<unknown>): Promise<void> {
  await cleanUp.catch(() => undefined);
}

/** Returns the result of some work, or throws if it takes too long. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return Promise.race([work, failAfter(ms)]);
}

/** @throws ServersError */
async function failAfter(ms: number): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new ServersError(`no answer within ${ms / 1000} s`);
}
