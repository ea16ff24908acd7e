import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Kafka as KafkaClient } from 'kafkajs';
import { ServersError } from './servers-error.js';

const { Kafka, Partitioners, logLevel } = kafkajs;

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
  await within(
    5_000,
    withClient(quietKafka(brokers).admin(), (admin) => admin.describeCluster()),
  );
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
  const topic = `ranklog-probe-${randomUUID()}`;
  return withClient(kafka.admin(), async (admin) => {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    try {
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await withClient(producer, () => producer.send({ topic, messages: [{ value: 'probe' }] }));
      await readBack(kafka, topic);
      await admin.deleteGroups([topic]);
    } finally {
      await quietly(admin.deleteTopics({ topics: [topic] }));
    }
  });
}

function readBack(kafka: KafkaClient, topic: string): Promise<void> {
  const options = { groupId: topic, maxWaitTimeInMs: 100 };
  return withClient(kafka.consumer(options), async (consumer) => {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      const eachMessage = () => {
        resolve();
        return Promise.resolve();
      };
      consumer.run({ eachMessage }).catch(reject);
    });
  });
}

async function withClient<
  Client extends { connect(): Promise<void>; disconnect(): Promise<void> },
  T,
>(client: Client, work: (client: Client) => Promise<T>): Promise<T> {
  try {
    await client.connect();
    return await work(client);
  } finally {
    await quietly(client.disconnect());
  }
}

/** Waits for a clean-up, and ignores its failure, which would hide the first error. */
async function quietly(cleanUp: Promise<unknown>): Promise<void> {
  await cleanUp.catch(() => undefined);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new ServersError(`no answer within ${ms / 1000} s`);
  });
  return Promise.race([work, late]);
}
