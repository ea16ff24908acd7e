// @ts-check
import { ensureBuild, serverEnvironment } from '../../scripts/with-setup.mjs';
import { redisKind } from './redis-setup.mjs';

/**
 * Starts a Kafka and a Redis, and puts their addresses into the environment. Also builds dist/,
 * which some tests start as a process. Jest runs each setup file once, for the first project that
 * has it: so it can't depend on the project.
 */
export default async function globalSetup() {
  await ensureBuild();
  const { KAFKA_BROKERS, REDIS_URL } = await serverEnvironment({
    start: ['kafka', 'redis'],
    ...redisKind(),
  });
  Object.assign(process.env, { KAFKA_BROKERS, REDIS_URL });
}
