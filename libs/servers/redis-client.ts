import { Cluster, Redis, type RedisOptions } from 'ioredis';

export const REDIS_KINDS = ['single', 'cluster', 'sentinel'] as const;
/** One server, a Redis Cluster, or a primary with replicas and sentinels. */
export type RedisKind = (typeof REDIS_KINDS)[number];
export type RedisGroup = Exclude<RedisKind, 'single'>;

const GROUP_URL =
  /^redis\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^:@/]*):(?<password>[^@/]*)@)?(?<hosts>[^/]+)(?:\/(?<name>.*))?$/;

export function kindOfRedis(url: string): RedisKind {
  return (GROUP_URL.exec(url)?.groups?.['kind'] as RedisGroup | undefined) ?? 'single';
}

/**
 * A client for a URL of one of these forms. `options` are those of each connection to a server.
 *
 *     redis://host:port
 *     redis+cluster://[user:password@]host:port,host:port
 *     redis+sentinel://[user:password@]host:port,host:port/NAME-OF-THE-PRIMARY
 */
export function openRedis(url: string, options: RedisOptions = {}): Redis | Cluster {
  const parts = GROUP_URL.exec(url)?.groups;
  if (parts === undefined) return new Redis(url, options);
  const { kind, user, password, hosts = '', name = '' } = parts;
  const nodes = hosts.split(',').map((address) => {
    const [host = '', port] = address.split(/:(?=\d+$)/);
    return { host, port: Number(port) };
  });
  const redisOptions = {
    ...options,
    ...(user && { username: decodeURIComponent(user) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  const { lazyConnect = false, retryStrategy } = options;
  if (kind === 'cluster')
    return new Cluster(nodes, {
      redisOptions,
      lazyConnect,
      scaleReads: 'master',
      slotsRefreshTimeout: 5_000, // longer than the default: a busy machine answers late
      ...(retryStrategy && { clusterRetryStrategy: retryStrategy }),
    });
  return new Redis({
    ...redisOptions,
    sentinels: nodes,
    name,
    ...(retryStrategy && { sentinelRetryStrategy: retryStrategy }),
  });
}

/** For short requests: they give up soon. */
export const PING_OPTIONS = {
  lazyConnect: true,
  connectTimeout: 3_000,
  commandTimeout: 3_000,
  // The ready check would wait without a limit while Redis loads its data; PING fails then.
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
};

/** Throws unless Redis accepts a connection within 3 s, and then answers PING within 3 s. */
export async function pingRedis(url: string): Promise<void> {
  const redis = openRedis(url, PING_OPTIONS);
  redis.on('error', () => undefined); // the failing command reports it
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
