// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { probeKafka } from './kafka-probe.mjs';
import { freePort, run } from './processes.mjs';
import { pingRedis } from './redis.mjs';
import { say, ServiceError } from './say.mjs';
import { HOME, readState, ROOT, writeState } from './state.mjs';

/** Images by Kafka release. */
const IMAGES = { 4.1: 'apache/kafka:4.1.0', 3.9: 'apache/kafka:3.9.1' };

/** Whether a Docker engine with compose answers. */
export function dockerAnswers() {
  return ['info', 'compose version'].every(
    (words) =>
      spawnSync('docker', words.split(' '), { stdio: 'ignore', timeout: 10_000 }).status === 0,
  );
}

/**
 * Starts docker-compose.yml and waits until both servers answer.
 * @param {string} release
 */
export async function startCompose(release) {
  const known = readState().docker;
  const docker = known ?? {
    kafka: await freePort(9092),
    redis: await freePort(6379),
    project: `ranklog-${createHash('sha256').update(HOME).digest('hex').slice(0, 8)}`,
  };
  writeState({ ...readState(), mode: 'docker', docker });
  say('starting Kafka and Redis with docker compose');
  compose(docker, release, ['up', '-d', '--wait', '--quiet-pull']);
  try {
    await pingRedis(`redis://127.0.0.1:${docker.redis}`);
    await probeKafka(`127.0.0.1:${docker.kafka}`);
  } catch (error) {
    throw new ServiceError(
      `${String(error)}\n${compose(docker, release, ['logs', '--tail', '30'])}`,
    );
  }
}

/** @param {boolean} purge */
export function stopCompose(purge) {
  const { docker } = readState();
  if (docker !== undefined) compose(docker, '4.1', ['down', ...(purge ? ['--volumes'] : [])]);
}

/**
 * One of Kafka's own tools in the container.
 * @param {string} script @param {string[]} args
 */
export function composeTool(script, args) {
  const { docker } = readState();
  if (docker === undefined) throw new ServiceError('nothing was started with docker compose');
  const inside = [
    'exec',
    '-T',
    'kafka',
    `/opt/kafka/bin/kafka-${script}.sh`,
    '--bootstrap-server',
    'localhost:19092',
  ];
  return spawnSync(
    'docker',
    ['compose', '-p', docker.project, ...inside, ...args],
    composeOptions(docker, '4.1'),
  );
}

/** @param {{ kafka: number, redis: number, project: string }} docker @param {string} release @param {string[]} args */
function compose(docker, release, args) {
  return run('docker', ['compose', '-p', docker.project, ...args], composeOptions(docker, release));
}

/**
 * @param {{ kafka: number, redis: number }} docker @param {string} release
 * @returns {{ cwd: string, env: NodeJS.ProcessEnv, stdio?: 'inherit' }}
 */
function composeOptions({ kafka, redis }, release) {
  const image = IMAGES[/** @type {keyof typeof IMAGES} */ (/** @type {unknown} */ (release))];
  return {
    cwd: ROOT,
    env: {
      ...process.env,
      KAFKA_PORT: String(kafka),
      REDIS_PORT: String(redis),
      KAFKA_IMAGE: image,
    },
  };
}
