// @ts-check
import { ensureBuild, serverEnvironment } from '../../scripts/with-setup.mjs';

/** System tests need dist/, which some start as a process of its own, and Kafka and Redis, which they find in the environment. */
export default async function globalSetup() {
  await ensureBuild();
  const { KAFKA_BROKERS, REDIS_URL } = await serverEnvironment({ start: true });
  Object.assign(process.env, { KAFKA_BROKERS, REDIS_URL });
}
