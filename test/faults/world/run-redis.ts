import type { Redis } from 'ioredis';
import type { RedisKind } from '#servers';
import { openRedis } from '../../../scripts/redis-client.mjs';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { SentinelSet } from '../../support/sentinel-set.js';

/** The Redis of a test run. */
export interface RunRedis {
  /** A client without faults. */
  readonly redis: Redis;
  readonly url: string;
  /** What workers get: see `Targets`. */
  readonly target: number | string;
  /** A connection to each primary. */
  primaries(): Promise<readonly Redis[]>;
  remove(): Promise<void>;
}

export async function startRedis(kind: RedisKind): Promise<RunRedis> {
  if (kind === 'single') return new SingleRedis(await RedisServer.start());
  const servers = await (kind === 'cluster' ? RedisCluster.start() : SentinelSet.start());
  return new RedisGroup(servers);
}

/** One server, which a fault can replace by another one. */
export class SingleRedis implements RunRedis {
  readonly #servers: RedisServer[];

  constructor(first: RedisServer) {
    this.#servers = [first];
  }

  /** The server that the workers use. */
  get server(): RedisServer {
    return this.#servers.at(-1)!;
  }

  get redis(): Redis {
    return this.server.redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.server.port}`;
  }

  get target(): number {
    return this.server.port;
  }

  primaries(): Promise<readonly Redis[]> {
    return Promise.resolve([this.redis]);
  }

  replaceBy(server: RedisServer): void {
    this.#servers.push(server);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.remove()));
  }
}

/** A cluster, or a primary with a replica and sentinels. */
export class RedisGroup implements RunRedis {
  readonly redis: Redis;

  constructor(readonly servers: RedisCluster | SentinelSet) {
    this.redis = openRedis(servers.url);
    this.redis.on('error', () => undefined); // commands report errors
  }

  get url(): string {
    return this.servers.url;
  }

  get target(): string {
    return this.url;
  }

  /** Asks the nodes of a cluster: its client learns late of a change. */
  async primaries(): Promise<readonly Redis[]> {
    if (this.servers instanceof SentinelSet) return [this.redis];
    const { nodes } = this.servers;
    const roles = await Promise.all(nodes.map((node) => node.isPrimary()));
    return nodes.filter((_, index) => roles[index]).map(({ redis }) => redis);
  }

  async remove(): Promise<void> {
    this.redis.disconnect();
    await this.servers.remove();
  }
}
