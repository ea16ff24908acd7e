import { groupAddress } from './group-state.js';
import { kindOfRedis, type RedisKind } from './redis-client.js';
import type { ServerName, ServersFolder } from './servers-folder.js';

/** The environment variable that names each server. */
export const SERVER_VARIABLES = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL' } as const;

/**
 * The address of a server: the given one, else where it was started. A given Redis of another kind
 * than `kind` does not count.
 * @param kind of Redis; default: the kind of the given Redis, else of the one started last
 */
export function addressOf(
  folder: ServersFolder,
  name: ServerName,
  kind?: RedisKind,
): string | undefined {
  const given = givenAddress(folder, name, kind);
  if (given !== undefined) return given;

  const state = folder.readState();
  const kindInUse = kind ?? state.redisKind ?? 'single';
  if (name === 'redis' && kindInUse !== 'single') return groupAddress(folder, kindInUse);

  if (state.mode !== 'docker' && folder.runningPid(name) === undefined) return undefined;
  const port = state.mode === 'docker' ? state.docker?.[name] : state[name]?.port;
  return port === undefined ? undefined : localAddress(name, port);
}

/** The address that the environment gives, if it is of this kind. */
export function givenAddress(
  folder: ServersFolder,
  name: ServerName,
  kind?: RedisKind,
): string | undefined {
  const given = folder.given[name];
  if (given === undefined || name === 'kafka' || kind === undefined) return given;
  return kindOfRedis(given) === kind ? given : undefined;
}

export function localAddress(name: ServerName, port: number): string {
  return name === 'kafka' ? `127.0.0.1:${port}` : `redis://127.0.0.1:${port}`;
}

/** The environment variables of the servers with a known address. */
export function serverVariables(
  folder: ServersFolder,
  kind?: RedisKind,
): {
  KAFKA_BROKERS?: string;
  REDIS_URL?: string;
} {
  const kafka = addressOf(folder, 'kafka');
  const redis = addressOf(folder, 'redis', kind);
  return {
    ...(kafka === undefined ? {} : { KAFKA_BROKERS: kafka }),
    ...(redis === undefined ? {} : { REDIS_URL: redis }),
  };
}
