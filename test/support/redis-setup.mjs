// @ts-check
import { ensureBuild, serverEnvironment } from '../../scripts/with-setup.mjs';

/**
 * Builds dist/, which starts servers; then starts a Redis and puts its address into the
 * environment.
 */
export default async function redisSetup() {
  await ensureBuild();
  const { REDIS_URL } = await serverEnvironment({ start: ['redis'], ...redisKind() });
  Object.assign(process.env, { REDIS_URL });
}

/**
 * The kind that --redis=KIND of scripts/test.mjs asks for.
 * @returns {{ redisKind?: import('#servers').RedisKind }}
 */
export function redisKind() {
  const kind = process.env['RANKLOG_TEST_REDIS'];
  return kind ? { redisKind: /** @type {import('#servers').RedisKind} */ (kind) } : {};
}
