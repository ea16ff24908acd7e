import type { ServerName, ServersFolder } from './servers-folder.js';

/** The environment variable that names each server. */
export const SERVER_VARIABLES = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL' } as const;

/** The address of a server: the given one, else where it was started. */
export function addressOf(folder: ServersFolder, name: ServerName): string | undefined {
  const given = folder.given[name];
  if (given !== undefined) return given;
  const { mode, docker, [name]: native } = folder.readState();
  const port = mode === 'docker' ? docker?.[name] : folder.runningPid(name) && native?.port;
  return port ? localAddress(name, port) : undefined;
}

export function localAddress(name: ServerName, port: number): string {
  return name === 'kafka' ? `127.0.0.1:${port}` : `redis://127.0.0.1:${port}`;
}

/** The environment variables of the servers with a known address. */
export function serverVariables(folder: ServersFolder): {
  KAFKA_BROKERS?: string;
  REDIS_URL?: string;
} {
  const kafka = addressOf(folder, 'kafka');
  const redis = addressOf(folder, 'redis');
  return {
    ...(kafka === undefined ? {} : { KAFKA_BROKERS: kafka }),
    ...(redis === undefined ? {} : { REDIS_URL: redis }),
  };
}
