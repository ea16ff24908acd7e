// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import getPort from 'get-port';
import { runInForeground } from '../foreground.mjs';
import { localAddress } from './addresses.mjs';
import { DEFAULT_RELEASE, kafkaVersion } from './kafka-jars.mjs';
import { pingKafka, probeKafka } from './kafka-probe.mjs';
import { retryFor, run } from './processes.mjs';
import { pingRedis } from './redis.mjs';
import { say, ServiceError } from './say.mjs';
import { changeState, HOME, readState, ROOT } from './state.mjs';

/** @typedef {import('./state.mjs').Compose} Compose */
/** @typedef {import('./state.mjs').ServerName} ServerName */

/** Whether a Docker engine with compose answers. */
export function dockerAnswers() {
  return [['info'], ['compose', 'version']].every(
    (args) => spawnSync('docker', args, { stdio: 'ignore', timeout: 10_000 }).status === 0,
  );
}

/**
 * Starts the servers of docker-compose.yml; returns when they answer.
 * @param {string | undefined} release @param {ServerName[]} names
 */
export async function startCompose(release, names) {
  const compose = await composeState(release);
  changeState({ mode: 'docker', docker: compose });
  say(`starting ${names.join(' and ')} with docker compose`);
  // Pulling draws its own progress on standard error.
  const args = ['up', '--detach', '--wait', '--wait-timeout', '180', ...names];
  const code = await runInForeground('docker', inProject(compose, args), {
    ...inEnvironment(compose),
    stdio: ['ignore', 2, 2],
  });
  try {
    if (code !== 0) throw new Error(`docker compose up ended with ${code}`);
    if (names.includes('redis')) await pingRedis(localAddress('redis', compose.redis));
    // The healthcheck of Kafka's container only checks that its port is open.
    if (names.includes('kafka'))
      await retryFor(60, () => probeKafka(localAddress('kafka', compose.kafka)));
  } catch (error) {
    const log = run('docker', inProject(compose, ['logs', '--tail', '30']), inEnvironment(compose));
    throw new ServiceError(
      `${String(error)}; last lines of the log:\n${log}the whole log: docker compose -p ${compose.project} logs`,
    );
  }
}

/**
 * The compose project of a release (default: the one started last). Keeps the last ports unless other programs use them.
 * @param {string | undefined} asked
 * @returns {Promise<Compose>}
 */
async function composeState(asked) {
  const known = readState().docker;
  const release = asked ?? known?.release ?? DEFAULT_RELEASE;
  if (known && (await answers(known))) {
    if (known.release !== release)
      throw new ServiceError(
        `Kafka ${known.release} is running; run "npm run services -- down" before asking for ${release}`,
      );
    return known;
  }
  const clone = createHash('sha256').update(HOME).digest('hex').slice(0, 8);
  return {
    // Each release has its own project, which keeps its data: an older Kafka can't read the data of a newer one.
    project: `ranklog-${clone}-kafka-${release.replace('.', '-')}`,
    release,
    kafka: await getPort({ host: '127.0.0.1', port: known?.kafka ?? 0 }),
    redis: await getPort({ host: '127.0.0.1', port: known?.redis ?? 0 }),
  };
}

/** @param {Compose} compose */
async function answers(compose) {
  const pings = [
    pingKafka(localAddress('kafka', compose.kafka)),
    pingRedis(localAddress('redis', compose.redis)),
  ];
  return (await Promise.allSettled(pings)).some(({ status }) => status === 'fulfilled');
}

/** @param {{ purge: boolean }} options */
export function stopCompose({ purge }) {
  const { mode, docker } = readState();
  if (docker === undefined || (mode !== 'docker' && !purge)) return;
  say('stopping docker compose');
  const args = ['down', ...(purge ? ['--volumes'] : [])];
  run('docker', inProject(docker, args), inEnvironment(docker));
  changeState({ mode: 'native' });
}

/**
 * Runs one of Kafka's own tools in its container.
 * @param {Compose} compose @param {string} name @param {string[]} args
 * @returns {Promise<number>} exit code
 */
export function composeTool(compose, name, args) {
  const script = `/opt/kafka/bin/kafka-${name}.sh`;
  const inside = ['exec', '-T', 'kafka', script, '--bootstrap-server', 'localhost:19092', ...args];
  return runInForeground('docker', inProject(compose, inside), inEnvironment(compose));
}

/** @param {Compose} compose @param {string[]} args */
function inProject({ project }, args) {
  return ['compose', '-p', project, ...args];
}

/** What docker-compose.yml reads from the environment. @param {Compose} compose */
function inEnvironment({ kafka, redis, release }) {
  const version = kafkaVersion(release);
  const ports = { KAFKA_PORT: String(kafka), REDIS_PORT: String(redis) };
  return { cwd: ROOT, env: { ...process.env, ...ports, KAFKA_VERSION: version } };
}
