import type { Kafka } from 'kafkajs';
import type Broker from 'kafkajs/src/broker/index.js';
import { createCluster } from '../kafkajs/cluster.js';
import { sendBatch } from '../produce/producer-session.js';

const NOBODY = { producerId: '-1', producerEpoch: -1, groupGenerationId: 0, memberId: 'nobody' };
const NO_WAIT = { maxWaitTime: 0, minBytes: 0 };
/** No log has this offset. */
const FROM = { partition: 0, fetchOffset: String(Number.MAX_SAFE_INTEGER), maxBytes: 1 };
const TOPIC = 2;
const FETCH = 1;

/**
 * For each right, named by options of kafka-acls: a request that changes nothing. With the right,
 * the request succeeds, or fails for another reason.
 */
const PROBES = {
  'Read --topic': (broker, topic): Promise<unknown> =>
    broker.fetch({ ...NO_WAIT, topics: [{ topic, partitions: [FROM] }] }),
  'Write --topic': (broker, topic) => sendBatch(broker, { topic, partition: 0 }, Buffer.alloc(0)),
  'DescribeConfigs --topic': (broker, name) =>
    broker.describeConfigs({ resources: [{ type: TOPIC, name }] }),
  'Describe --topic': (broker, topic) => broker.metadata([topic]),
  'Describe --group': (broker, groupId) => broker.offsetFetch({ groupId, topics: [] }),
  'Read --group': (broker, groupId) => broker.heartbeat({ ...NOBODY, groupId }),
  'Write --transactional-id': endTransaction,
  'Write --resource-pattern-type prefixed --transactional-id': endTransaction,
} satisfies Record<string, (broker: Broker, name: string) => Promise<unknown>>;

function endTransaction(broker: Broker, transactionalId: string): Promise<unknown> {
  return broker.endTxn({ ...NOBODY, transactionalId });
}

/** A right, and the name of its topic, group or transactional id. */
export type Right = readonly [right: keyof typeof PROBES, name: string];

/** The rights that the user lacks, and the newest version of Fetch, which grows with releases. */
export async function brokerFacts(kafka: Kafka, rights: readonly Right[]) {
  const cluster = createCluster(kafka);
  try {
    await cluster.connect();
    await cluster.refreshMetadata();
    const broker = await cluster.findControllerBroker();
    const versions = await broker.apiVersions();
    const missing: Right[] = [];
    // In sequence: for concurrent requests, kafkajs would open two connections and lose one.
    for (const right of rights) {
      if (await isMissing(broker, right)) missing.push(right);
    }
    return { fetchVersion: versions[FETCH]?.maxVersion ?? 0, missing };
  } finally {
    await cluster.disconnect();
  }
}

async function isMissing(broker: Broker, [right, name]: Right): Promise<boolean> {
  try {
    await PROBES[right](broker, name);
    return false;
  } catch (error) {
    return /_AUTHORIZATION_FAILED$/.test(String((error as { type?: unknown }).type));
  }
}
