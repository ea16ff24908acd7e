// @ts-check
import { ensureBuild, serverEnvironment } from '../../scripts/with-setup.mjs';

/**
 * Starts the servers that a project's tests need and puts their addresses into the environment. System tests also need dist/,
 * which some of them start as a process.
 * @param {import('jest').Config} _
 * @param {{ displayName?: { name: string } }} project
 */
export default async function globalSetup(_, { displayName }) {
  if (displayName?.name === 'redis') {
    const { REDIS_URL } = await serverEnvironment({ start: ['redis'] });
    Object.assign(process.env, { REDIS_URL });
    return;
  }
  await ensureBuild();
  const { KAFKA_BROKERS, REDIS_URL } = await serverEnvironment({ start: ['kafka', 'redis'] });
  Object.assign(process.env, { KAFKA_BROKERS, REDIS_URL });
}
