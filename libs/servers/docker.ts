import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import getPort from 'get-port';
import { localAddress } from './addresses.js';
import { runInForeground } from './foreground.mjs';
import { DEFAULT_RELEASE, kafkaVersion } from './kafka-jars.js';
import { pingKafka, probeKafka } from './kafka-probe.js';
import { retryFor, run } from './processes.js';
import { pingRedis } from './redis-client.js';
import { ServersError } from './servers-error.js';
import type { Compose, ServerName, ServersFolder } from './servers-folder.js';

/** Whether a Docker engine with compose answers. */
export function dockerAnswers(): boolean {
  return dockerSucceeds(['info']) && dockerSucceeds(['compose', 'version']);
}

function dockerSucceeds(args: readonly string[]): boolean {
  return spawnSync('docker', args, { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

/** Starts the servers of docker-compose.yml; resolves when they answer. */
export async function startCompose(
  folder: ServersFolder,
  names: readonly ServerName[],
  release: string | undefined,
): Promise<void> {
  const compose = await composeState(folder, release);
  folder.changeState({ mode: 'docker', docker: compose });
  folder.say(`starting ${names.join(' and ')} with docker compose`);
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
    throw new ServersError(
      `${String(error)}; last lines of the log:\n${log}the whole log: docker compose -p ` +
        `${compose.project} logs`,
    );
  }
}

/**
 * The compose project of a release (default: the one started last). Keeps the last ports unless
 * other programs use them.
 */
async function composeState(folder: ServersFolder, asked: string | undefined): Promise<Compose> {
  const known = folder.readState().docker;
  const release = asked ?? known?.release ?? DEFAULT_RELEASE;
  if (known !== undefined && (await answers(known))) {
    if (known.release !== release)
      throw new ServersError(
        `Kafka ${known.release} is running; stop it before you ask for ${release}`,
      );
    return known;
  }
  return {
    // Each release has its own project, which keeps its data: an older Kafka can't read the data of
    // a newer one.
    project: `ranklog-${folder.id}-kafka-${release.replace('.', '-')}`,
    release,
    kafka: await getPort({ host: '127.0.0.1', port: known?.kafka ?? 0 }),
    redis: await getPort({ host: '127.0.0.1', port: known?.redis ?? 0 }),
  };
}

async function answers(compose: Compose): Promise<boolean> {
  const pings = [
    pingKafka(localAddress('kafka', compose.kafka)),
    pingRedis(localAddress('redis', compose.redis)),
  ];
  return (await Promise.allSettled(pings)).some(({ status }) => status === 'fulfilled');
}

/**
 * Stops the servers of docker compose. `purge` also deletes their data.
 * @returns the project, if its data remains because no Docker engine answers
 */
export function stopCompose(
  folder: ServersFolder,
  { purge }: { readonly purge: boolean },
): Compose | undefined {
  const { mode, docker } = folder.readState();
  if (docker === undefined || (mode !== 'docker' && !purge)) return undefined;

  if (purge && !dockerAnswers()) {
    folder.say(
      `Docker does not answer, so the data of its project ${docker.project} remains. To ` +
        'delete it once Docker runs, run this command again, or: docker compose -p ' +
        `${docker.project} down --volumes`,
    );
    return docker;
  }

  folder.say('stopping docker compose');
  const args = purge ? ['down', '--volumes'] : ['down'];
  run('docker', inProject(docker, args), inEnvironment(docker));
  folder.changeState({ mode: 'native' });
  return undefined;
}

/**
 * Runs one of Kafka's own tools in its container.
 * @returns its exit code
 */
export function composeTool(
  compose: Compose,
  name: string,
  args: readonly string[],
): Promise<number> {
  const script = `/opt/kafka/bin/kafka-${name}.sh`;
  const inside = ['exec', '-T', 'kafka', script, '--bootstrap-server', 'localhost:19092', ...args];
  return runInForeground('docker', inProject(compose, inside), inEnvironment(compose));
}

function inProject({ project }: Compose, args: readonly string[]): string[] {
  return ['compose', '-p', project, ...args];
}

/** The environment that docker-compose.yml reads, and its folder, which is the package's. */
function inEnvironment({ kafka, redis, release }: Compose) {
  const cwd = path.dirname(createRequire(import.meta.url).resolve('#package'));
  const env = {
    ...process.env,
    KAFKA_PORT: String(kafka),
    REDIS_PORT: String(redis),
    KAFKA_VERSION: kafkaVersion(release),
  };
  return { cwd, env };
}
