// @ts-check
import { serverEnvironment } from '../../scripts/with-setup.mjs';

/** Starts a Redis and puts its address into the environment. */
export default async function redisSetup() {
  const { REDIS_URL } = await serverEnvironment({ start: ['redis'] });
  Object.assign(process.env, { REDIS_URL });
}
