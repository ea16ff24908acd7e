// @ts-check
import path from 'node:path';
import { withLock } from '../lock.mjs';
import { addressOf, serverVariables, VARIABLES } from './addresses.mjs';
import { dockerAnswers, startCompose, stopCompose } from './docker.mjs';
import { startKafka } from './kafka.mjs';
import { kafkaVersion } from './kafka-jars.mjs';
import { pingKafka } from './kafka-probe.mjs';
import { stopServer } from './processes.mjs';
import { pingRedis, startRedis } from './redis.mjs';
import { say, ServiceError } from './say.mjs';
import { HOME, purgeData, readState, runningPid } from './state.mjs';

/** @typedef {import('./state.mjs').ServerName} ServerName */
/** @typedef {{ name: ServerName, how: 'env' | 'docker' | 'native' | 'down', address: string | null, pid: number | null, answers: boolean }} Status */

export const NAMES = /** @type {const} */ (['kafka', 'redis']);
const PINGS = { kafka: pingKafka, redis: pingRedis };

/**
 * Starts the servers that do not run and waits until all of them answer.
 * @param {{ kafka?: string }} options `kafka`: the release asked for
 * @param {readonly ServerName[]} servers
 */
export async function up({ kafka: release }, servers = NAMES) {
  if (release !== undefined) kafkaVersion(release);
  const names = servers.filter((name) => !isGiven(name));
  await Promise.all(servers.filter(isGiven).map(checkGiven));
  if (names.length > 0) await withLock(lockFile(), () => start(release, names));
}

/** @param {string | undefined} release @param {ServerName[]} names */
async function start(release, names) {
  const nativeRuns = names.some((name) => runningPid(name) !== undefined);
  if (!nativeRuns && dockerAnswers()) return startCompose(release, names);
  // One after the other: both may need apt.
  if (names.includes('redis')) await startRedis();
  if (names.includes('kafka')) await startKafka(release);
}

/** @param {ServerName} name */
function isGiven(name) {
  return Boolean(process.env[VARIABLES[name]]);
}

/** @param {ServerName} name */
async function checkGiven(name) {
  const address = addressOf(name) ?? '';
  await PINGS[name](address).catch((/** @type {unknown} */ error) => {
    const shown = address.replace(/\/\/[^@/]*@/, '//***@');
    throw new ServiceError(
      `${VARIABLES[name]} is set to ${shown}, which does not answer: ${String(error)}`,
    );
  });
}

/**
 * Stops what `up` started; servers that the environment names are left alone.
 * @param {{ purge?: boolean }} options `purge`: removes their data too
 */
export async function down({ purge = false }) {
  await withLock(lockFile(), async () => {
    stopCompose({ purge });
    await Promise.all(NAMES.map(stopServer));
    if (purge) purgeData();
  });
}

/** @returns {Promise<Status[]>} of both servers */
export function status() {
  return Promise.all(NAMES.map(statusOf));
}

/** @param {ServerName} name @returns {Promise<Status>} */
async function statusOf(name) {
  const address = addressOf(name) ?? null;
  const how = isGiven(name) ? 'env' : address === null ? 'down' : (readState().mode ?? 'native');
  const pid = how === 'native' ? (runningPid(name) ?? null) : null;
  const answers =
    address !== null &&
    (await PINGS[name](address).then(
      () => true,
      () => false,
    ));
  return { name, how, address, pid, answers };
}

/** @returns {{ KAFKA_BROKERS: string, REDIS_URL: string } | undefined} undefined when one is down */
export function environment() {
  const { KAFKA_BROKERS, REDIS_URL } = serverVariables();
  if (KAFKA_BROKERS && REDIS_URL) return { KAFKA_BROKERS, REDIS_URL };
  say('the servers are down; start them with: npm run services -- up');
  return undefined;
}

function lockFile() {
  return path.join(HOME, 'servers.lock');
}
