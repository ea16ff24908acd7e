import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  SERVER_NAMES,
  ServersFolder,
  startServers as startServersOf,
  type ServerName,
} from '#servers';
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
  const given: Partial<Record<ServerName, string>> = {};
  if (KAFKA_BROKERS) given.kafka = KAFKA_BROKERS;
  if (REDIS_URL) given.redis = REDIS_URL;

  const folder = new ServersFolder(FOLDER, { label: 'ranklog', given });
  const endUse = await beginUse(folder);
  try {
    const servers = await startServersOf(folder);
    return {
      kafkaBrokers: servers.kafka,
      redisUrl: servers.redis,
      // In a promise, so that an error rejects it.
      stop: () => Promise.resolve().then(endUse),
    };
  } catch (error) {
    endUse();
    throw error;
  }
}

/** Returns the function that ends the use. There is nothing to end if all servers are given. */
async function beginUse(folder: ServersFolder): Promise<() => void> {
  const areAllGiven = SERVER_NAMES.every((name) => folder.given[name] !== undefined);
  if (areAllGiven) return () => undefined;

  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.file('.gitignore'), '*\n');
  return await useServers(folder);
}
