import kafkajs, {
  ConfigResourceTypes,
  ConfigSource,
  type Admin,
  type Kafka,
  type KafkaConfig,
  type Producer,
} from 'kafkajs';
import { eventually } from './eventually.js';

/** A silent Kafka client, with a timeout for busy machines. */
export function testKafka(config: KafkaConfig): Kafka {
  return new kafkajs.Kafka({
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 20_000,
    ...config,
  });
}

/** Sets the configuration of a topic: these entries, and the broker's defaults for all others. */
export async function configure(
  { admin }: { admin: Admin },
  topic: string,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const configEntries = Object.entries(entries).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  });
  const asked = { type: ConfigResourceTypes.TOPIC, name: topic };
  await eventually(async () => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [asked],
    });
    const found = new Map(
      resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
    return Object.entries(entries).every(([name, value]) => found.get(name) === value);
  }, `the broker has the settings of ${topic}`);
}

/** Lets producers date the records of a score topic that "ranklog topics" has created. */
export const letProducersDate = (kafka: { admin: Admin }, topic: string): Promise<void> =>
  configure(kafka, topic, {
    'retention.ms': '-1',
    'message.timestamp.after.max.ms': '3600000',
    'message.timestamp.type': 'CreateTime',
  });

/** Adds to the configuration of a topic that so many replicas must have a record. */
export async function needReplicas(
  kafka: { admin: Admin },
  topic: string,
  replicas: number,
): Promise<void> {
  const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic }];
  const described = await kafka.admin.describeConfigs({ resources, includeSynonyms: false });
  const entries = described.resources[0]?.configEntries ?? [];
  const own = entries.filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG);
  await configure(kafka, topic, {
    ...Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue])),
    'min.insync.replicas': String(replicas),
  });
}

/** Waits for earlier transactions of the id in short steps. */
export function transactionalProducer(kafka: Kafka, transactionalId: string): Producer {
  return kafka.producer({
    transactionalId,
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 20, retries: 20 },
  });
}

/**
 * Waits until the last transactions of some transactional ids have their markers in the log. Kafka
 * confirms a commit before it writes the markers, and starts the next producer of the id only after
 * them. Fences the producers.
 */
export async function transactionsEnded(
  kafka: Kafka,
  ...transactionalIds: readonly string[]
): Promise<void> {
  for (const transactionalId of transactionalIds) {
    const producer = transactionalProducer(kafka, transactionalId);
    await producer.connect();
    const next = await producer.transaction();
    await next.abort(); // sends nothing, as the transaction is empty
    await producer.disconnect();
  }
}
