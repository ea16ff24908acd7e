// @ts-check
// Redis servers of the bench itself: one, and clusters of 1, 2 and 3 primaries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServersFolder, startServers, stopServers } from '#servers';
import { openRedis, primariesOf } from '../../scripts/redis-client.mjs';

/**
 * What a server has used and moved since its start.
 * @typedef {object} Usage
 * @property {number} cpu in us
 * @property {number} calls scripts called
 * @property {number} received bytes from clients
 * @property {number} sent bytes to clients
 * @property {number} written bytes of the append-only file
 * @property {number} memory bytes in use now
 */

/** The servers that one variant runs on. */
export class RedisServers {
  #folder = mkdtempSync(path.join(tmpdir(), 'ranklog-bench-redis-'));
  #servers = new ServersFolder(this.#folder, { label: 'bench:scale' });
  #redis = openRedis('redis://127.0.0.1:1', { lazyConnect: true });
  url = '';

  /** @param {number} nodes of a cluster; 0 for a single server */
  async start(nodes) {
    const kind = nodes === 0 ? /** @type {const} */ ('single') : /** @type {const} */ ('cluster');
    const options = { servers: /** @type {const} */ (['redis']), redisKind: kind };
    const size = nodes === 0 ? {} : { clusterSize: nodes };
    this.url = (await startServers(this.#servers, { ...options, ...size })).redis;
    this.#redis = openRedis(this.url);
    await this.#redis.ping(); // a client of a cluster knows its nodes only once it is connected
    for (const node of this.#nodes) await node.config('SET', 'auto-aof-rewrite-percentage', '0');
  }

  /** Of each server. @returns {Promise<Usage[]>} */
  usage() {
    return Promise.all(this.#nodes.map(usageOf));
  }

  async remove() {
    this.#redis.disconnect();
    await stopServers(this.#servers, { purge: true });
    rmSync(this.#folder, { recursive: true });
  }

  /** In order of their ports. */
  get #nodes() {
    const port = (/** @type {import('ioredis').Redis} */ { options }) => options.port ?? 0;
    return primariesOf(this.#redis).toSorted((a, b) => port(a) - port(b));
  }
}

/** @param {import('ioredis').Redis} node @returns {Promise<Usage>} */
async function usageOf(node) {
  const info = await node.info('everything');
  const number = (/** @type {string} */ name) => {
    const [, value] = new RegExp(`^${name}:(?:calls=)?([\\d.]+)`, 'm').exec(info) ?? [];
    return Number(value ?? 0);
  };
  return {
    cpu: (number('used_cpu_user') + number('used_cpu_sys')) * 1e6,
    calls: number('cmdstat_evalsha') + number('cmdstat_eval'),
    received: number('total_net_input_bytes'),
    sent: number('total_net_output_bytes'),
    written: number('aof_current_size'),
    memory: number('used_memory'),
  };
}
