import { KafkaConnection } from '../infra/kafka.js';
import { waitForServices } from '../infra/services.js';
import { openSession, type Session } from './session.js';

export type KafkaSession = Session & Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>;

/** Runs `use` with a Kafka client and a connected admin client, then closes them. @throws ServiceUnreachableError */
export async function withKafka<T>(use: (session: KafkaSession) => Promise<T>): Promise<T> {
  const session = openSession();
  const { settings, logger } = session;
  await waitForServices(settings, { kafka: true }, logger);
  const { kafka, admin, topics } = new KafkaConnection(settings, logger);
  await admin.connect();
  try {
    return await use({ ...session, kafka, admin, topics });
  } finally {
    await admin.disconnect();
  }
}
