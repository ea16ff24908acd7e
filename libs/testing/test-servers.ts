import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SERVER_NAMES, ServersFolder, startServers as startServersOf } from '#servers';
import { useServers } from './reaper.js';

/** In the current folder. */
const FOLDER = path.join('.ranklog', 'testing');

/** Kafka and Redis, until `stop`. */
export interface TestServers {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  /**
   * Ends this use of the servers. Servers that were started end a few seconds after the last use,
   * also if the process is killed.
   */
  stop(): Promise<void>;
}

/**
 * The Kafka and the Redis that KAFKA_BROKERS and REDIS_URL name. Starts a server that is not named
 * in the folder `.ranklog/testing`, unless it runs. All processes of a test run share these
 * servers, which end a few seconds after the last use. To keep them for the whole run, call this in
 * the global set-up of your test runner.
 * @throws ServersError, which says what to install
 */
export async function startServers(): Promise<TestServers> {
  const { KAFKA_BROKERS, REDIS_URL } = process.env;
  const folder = new ServersFolder(FOLDER, {
    label: 'ranklog',
    given: {
      ...(KAFKA_BROKERS && { kafka: KAFKA_BROKERS }),
      ...(REDIS_URL && { redis: REDIS_URL }),
    },
  });
  const endUse = await beginUse(folder);
  try {
    const { kafka, redis } = await startServersOf(folder);
    const stop = () => Promise.resolve().then(endUse);
    return { kafkaBrokers: kafka, redisUrl: redis, stop };
  } catch (error) {
    endUse();
    throw error;
  }
}

function beginUse(folder: ServersFolder): Promise<() => void> | (() => void) {
  if (SERVER_NAMES.every((name) => folder.given[name] !== undefined)) return () => undefined;
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.file('.gitignore'), '*\n');
  return useServers(folder);
}
