import type { Cluster, Redis } from 'ioredis';

/**
 * A client of one server, or of a Redis Cluster. All keys of a command must be of one shard,
 * because a cluster chooses the node by them. Send commands without a key to `primariesOf`.
 */
export type RedisClient = Redis | Cluster;

/** The connections to the primaries: one for each primary of a cluster. */
export function primariesOf(redis: RedisClient): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

/**
 * A replica answered. A replica itself refuses scripts and writes with such an error, but it
 * answers plain reads, with data that may be old.
 */
export class ReplicaError extends Error {
  constructor(primary: string) {
    super(`READONLY this Redis is a replica of ${primary}, whose data may be old`);
    this.name = 'ReplyError'; // the name that ioredis gives to errors of a server
  }
}

type Replication = Readonly<Record<string, string | undefined>>;

/** The error of a server that is no primary. Scripts have the same rule (includes/base.lua). */
export function replicaErrorOf(info: Replication): ReplicaError | undefined {
  const { role, master_host: host = 'an unknown server', master_port: port } = info;
  if (role === 'master') return undefined;
  return new ReplicaError(port === undefined ? host : `${host}:${port}`);
}

/**
 * Call it after a read, on the same connection: it rejects unless a primary answered. Sends nothing
 * to a cluster, because replicas of a cluster answer no read of a key (MOVED).
 * @throws ReplicaError
 */
export async function requirePrimary(redis: RedisClient): Promise<void> {
  if (redis.isCluster) return;

  const info = await redis.info('replication');
  const fields = [...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]);
  const error = replicaErrorOf(Object.fromEntries(fields) as Replication);
  if (error !== undefined) throw error;
}
