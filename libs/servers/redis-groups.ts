import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { Redis } from 'ioredis';
import { retryFor } from './processes.js';
import { PING_OPTIONS, type RedisGroup } from './redis-client.js';
import { ServersError } from './servers-error.js';

const HOST = '127.0.0.1';
/** The name of the primary for sentinels and their clients. */
const PRIMARY = 'ranklog';
/** A primary, its replica, and three sentinels. */
const SENTINEL_SERVERS = 5;
const CLUSTER_PRIMARIES = 3;
/** Three or fewer primaries, or three with a replica each. */
const CLUSTER_SIZES: readonly number[] = [1, 2, CLUSTER_PRIMARIES, 2 * CLUSTER_PRIMARIES];
const SLOTS = 16_384;
/** Nodes of a cluster talk to each other at their port plus this. */
const BUS = 10_000;
const SECONDS_TO_FORM = 30;
/** The other nodes of a cluster count a node as failed if it does not answer for this time. */
export const NODE_TIMEOUT_MS = 2_000;

/** The names of groups in messages. */
export const GROUP_TITLES: Readonly<Record<RedisGroup, string>> = {
  cluster: 'Redis Cluster',
  sentinel: 'Redis with sentinels',
};

/** A redis-server of a group. */
export interface GroupServer {
  readonly port: number;
  readonly isSentinel: boolean;
  /** The lines of its configuration file, without `dir` and `bind`. */
  readonly settings: readonly string[];
}

/** @throws ServersError unless a group can have this number of servers */
export function requireSize(group: RedisGroup, servers: number): void {
  if (group === 'cluster' && !CLUSTER_SIZES.includes(servers))
    throw new ServersError(
      `a cluster of ${servers} is not known; use 1, 2 or 3 (primaries only) or 6 (3 ` +
        'primaries with a replica each)',
    );
}

export function defaultSize(group: RedisGroup): number {
  return group === 'cluster' ? 2 * CLUSTER_PRIMARIES : SENTINEL_SERVERS;
}

export function groupUrl(group: RedisGroup, ports: readonly number[]): string {
  const hosts = ports.map((port) => `${HOST}:${port}`);
  if (group === 'cluster') return `redis+cluster://${hosts.join()}`;

  const sentinels = hosts.slice(2);
  return `redis+sentinel://${sentinels.join()}/${PRIMARY}`;
}

/** The servers of a group: primaries first in a cluster; else primary, replica, sentinels. */
export function groupServers(group: RedisGroup, ports: readonly number[]): GroupServer[] {
  if (group === 'cluster')
    return ports.map((port) => ({ port, isSentinel: false, settings: clusterSettings(port) }));

  const [primary = 0, replica = 0, ...sentinels] = ports;
  return [
    { port: primary, isSentinel: false, settings: replicatedSettings(primary) },
    {
      port: replica,
      isSentinel: false,
      settings: [...replicatedSettings(replica), `replicaof ${HOST} ${primary}`],
    },
    ...sentinels.map((port) => ({
      port,
      isSentinel: true,
      settings: sentinelSettings(port, { primary, replica }),
    })),
  ];
}

/**
 * `cluster-require-full-coverage` keeps its default, yes: without the primary of some slots, all
 * nodes answer CLUSTERDOWN, as in production. `min-replicas-to-write` keeps its default, 0: a
 * failover may lose acknowledged writes.
 */
function clusterSettings(port: number): string[] {
  return [
    ...dataSettings(port),
    'cluster-enabled yes',
    `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
    `cluster-announce-ip ${HOST}`,
  ];
}

function replicatedSettings(port: number): string[] {
  return [...dataSettings(port), `replica-announce-ip ${HOST}`, `replica-announce-port ${port}`];
}

function dataSettings(port: number): string[] {
  return [
    `port ${port}`,
    'protected-mode no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'repl-diskless-sync-delay 0',
  ];
}

function sentinelSettings(
  port: number,
  { primary, replica }: { primary: number; replica: number },
): string[] {
  return [
    `port ${port}`,
    'protected-mode no',
    `sentinel monitor ${PRIMARY} ${HOST} ${primary} 2`,
    `sentinel down-after-milliseconds ${PRIMARY} 2000`,
    `sentinel failover-timeout ${PRIMARY} 6000`,
    // Sentinels ask the primary for its replicas, but only every 10 s.
    `sentinel known-replica ${PRIMARY} ${HOST} ${replica}`,
    `sentinel announce-ip ${HOST}`,
    `sentinel announce-port ${port}`,
  ];
}

/** The text of a configuration file. Redis and sentinels rewrite this file. */
export function configText(
  { settings }: GroupServer,
  { dir, bind = HOST }: { dir: string; bind?: string },
): string {
  return [...settings, `bind ${bind}`, `dir ${JSON.stringify(dir)}`, ''].join('\n');
}

/**
 * Returns `count` free ports in a row, with free bus ports. All of them are below the ports that
 * systems give to outgoing connections, so that no connection takes one meanwhile.
 */
export async function freeGroupPorts(count: number): Promise<number[]> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = randomInt(10_000, 32_000 - BUS - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await takenPorts(ports)).length === 0) return ports;
  }
  throw new ServersError(`there are no ${count} free ports in a row between 10000 and 22000`);
}

/** The ports that other programs use, bus ports included. */
export async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const all = ports.flatMap((port) => [port, port + BUS]);
  const free = await Promise.all(all.map(isFree));
  return all.filter((_port, index) => !free[index]);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

/** Makes a group of servers that have just been started empty. Resolves when it is complete. */
export async function formGroup(group: RedisGroup, ports: readonly number[]): Promise<void> {
  await retryFor(SECONDS_TO_FORM, () => withServers(ports, () => Promise.resolve()));
  if (group === 'cluster') await withServers(ports, joinNodes);
  await groupIsComplete(group, ports);
}

/** Resolves when all servers of a group work together. @throws after 30 s */
export async function groupIsComplete(group: RedisGroup, ports: readonly number[]): Promise<void> {
  await retryFor(SECONDS_TO_FORM, () => checkGroup(group, ports));
}

/**
 * Gives the slots to the primaries, introduces the nodes to each other, and assigns the replicas.
 */
async function joinNodes(nodes: readonly Redis[]): Promise<void> {
  const [first = 0] = nodes.map(portOf);
  const primaries = nodes.slice(0, CLUSTER_PRIMARIES);
  const replicas = nodes.slice(CLUSTER_PRIMARIES);
  await Promise.all(
    nodes.map((node, index) => node.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)),
  );
  await Promise.all(
    primaries.map((node, index) => {
      const from = Math.ceil((index * SLOTS) / primaries.length);
      const to = Math.ceil(((index + 1) * SLOTS) / primaries.length) - 1;
      return node.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
    }),
  );
  await Promise.all(nodes.slice(1).map((node) => node.call('CLUSTER', 'MEET', HOST, first)));
  await retryFor(SECONDS_TO_FORM, () =>
    Promise.all(nodes.map((node) => requireKnown(node, nodes.length))),
  );
  await Promise.all(
    replicas.map(async (replica, index) => {
      const primary = (await primaries[index]?.call('CLUSTER', 'MYID')) as string;
      await replica.call('CLUSTER', 'REPLICATE', primary);
    }),
  );
}

/** @throws ServersError unless all servers of a group work together */
export async function checkGroup(group: RedisGroup, ports: readonly number[]): Promise<void> {
  await withServers(ports, async (servers) => {
    if (group === 'cluster') {
      await Promise.all(servers.map(requireReplication));
      await Promise.all(servers.map(requireOk));
      return;
    }
    await Promise.all(servers.slice(0, 2).map(requireReplication));
    await Promise.all(servers.slice(2).map(requireSentinel));
  });
}

async function requireKnown(node: Redis, nodes: number): Promise<void> {
  const known = ((await node.call('CLUSTER', 'NODES')) as string).trim().split('\n');
  if (known.length !== nodes || known.some((line) => line.includes('handshake')))
    throw new ServersError(`node ${portOf(node)} does not know all nodes yet`);
}

async function requireOk(node: Redis): Promise<void> {
  const info = (await node.call('CLUSTER', 'INFO')) as string;
  if (!info.includes('cluster_state:ok'))
    throw new ServersError(`node ${portOf(node)} of the cluster is not ready:\n${info}`);
}

async function requireReplication(server: Redis): Promise<void> {
  const info = await server.info('replication');
  if (info.includes('master_link_status:down'))
    throw new ServersError(`replica ${portOf(server)} is not connected to its primary`);
}

async function requireSentinel(sentinel: Redis): Promise<void> {
  const info = await sentinel.info('sentinel');
  if (!/status=ok,.*slaves=1,sentinels=3/.test(info))
    throw new ServersError(`sentinel ${portOf(sentinel)} does not know all servers:\n${info}`);
}

async function withServers(
  ports: readonly number[],
  work: (servers: readonly Redis[]) => Promise<void>,
): Promise<void> {
  const servers = ports.map((port) => {
    const redis = new Redis(port, HOST, PING_OPTIONS);
    redis.on('error', () => undefined); // the failing command reports it
    return redis;
  });
  try {
    await Promise.all(servers.map((server) => server.connect()));
    await work(servers);
  } finally {
    for (const server of servers) server.disconnect();
  }
}

function portOf({ options }: Redis): number {
  return options.port ?? 0;
}
