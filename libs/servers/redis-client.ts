import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl } from '#redis-url';

export const REDIS_KINDS = ['single', 'cluster', 'sentinel'] as const;
/** One server, a Redis Cluster, or a primary with replicas and sentinels. */
export type RedisKind = (typeof REDIS_KINDS)[number];
export type RedisGroup = Exclude<RedisKind, 'single'>;

export function kindOfRedis(url: string): RedisKind {
  const kind = parseRedisUrl(url)?.kind ?? 'server';
  return kind === 'server' ? 'single' : kind;
}

/**
 * A client for a URL of one of the forms of `parseRedisUrl`. `options` apply to each connection to
 * a server.
 */
export function openRedis(url: string, options: RedisOptions = {}): Redis | Cluster {
  const address = parseRedisUrl(url);
  if (address === undefined || address.kind === 'server') return new Redis(url, options);
  const { nodes, username, password, primary } = address;
  const redisOptions = {
    ...options,
    ...(username && { username }),
    ...(password && { password }),
    ...(address.hasTls && { tls: options.tls ?? {} }),
  };
  const { lazyConnect = false, retryStrategy } = options;
  if (address.kind === 'cluster')
    return new Cluster([...nodes], {
      redisOptions,
      lazyConnect,
      dnsLookup: (host, done) => done(null, host), // by the socket, so that TLS knows the name
      slotsRefreshTimeout: 5_000, // longer than the default: a busy machine answers late
      ...(retryStrategy && { clusterRetryStrategy: retryStrategy }),
    });
  return new Redis({
    ...redisOptions,
    sentinels: [...nodes],
    enableTLSForSentinelMode: true,
    ...(address.hasTls && { sentinelTLS: options.tls ?? {} }),
    ...(primary && { name: primary }),
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
