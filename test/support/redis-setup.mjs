// @ts-check
import { ensureBuild, serverEnvironment } from '../../scripts/with-setup.mjs';

/** Builds dist/, which starts servers; then starts a Redis and puts its address into the environment. */
export default async function redisSetup() {
  await ensureBuild();
  const { REDIS_URL } = await serverEnvironment({ start: ['redis'] });
  Object.assign(process.env, { REDIS_URL });
}
