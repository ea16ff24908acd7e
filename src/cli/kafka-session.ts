import type { Admin, Kafka } from 'kafkajs';
import { topicNames, type TopicNames } from '#contracts';
import { waitForServices } from '../infra/clients.js';
import { kafkaFrom } from '../infra/kafka-client.js';
import { openSession, type Session } from './session.js';

export interface KafkaSession extends Session {
  readonly topics: TopicNames;
  readonly kafka: Kafka;
  readonly admin: Admin;
}

/** Runs `use` with a Kafka client and an admin connection, and closes it. @throws ServiceUnreachableError */
export async function withKafka<T>(use: (session: KafkaSession) => Promise<T>): Promise<T> {
  const session = openSession();
  const { settings, logger } = session;
  const kafka = kafkaFrom(settings, logger);
  await waitForServices(settings, { kafka: true }, logger);
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await use({ ...session, topics: topicNames(settings.topicPrefix), kafka, admin });
  } finally {
    await admin.disconnect();
  }
}
