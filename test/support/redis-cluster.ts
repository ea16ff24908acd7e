import {
  formGroup,
  freeGroupPorts,
  groupServers,
  groupUrl,
  NODE_TIMEOUT_MS,
} from '../../libs/servers/redis-groups.js';
import { BUS, BusProxy } from './cluster-bus.js';
import { eventually } from './eventually.js';
import { RedisNode } from './redis-node.js';

const SECONDS_TO_FAIL_OVER = 30;
/** Redis gives up a failover by request after 5 s. */
const SECONDS_OF_AN_ATTEMPT = 6;

/**
 * A Redis Cluster of a test, which does harm to it. Its nodes can be killed, frozen and restarted,
 * and one can be cut off from the others.
 */
export class RedisCluster {
  #bus: readonly BusProxy[] = [];
  #cutOff: RedisNode | undefined;

  private constructor(readonly nodes: RedisNode[]) {}

  /** Starts an empty cluster: 3 primaries, or 6 nodes, of which the last three are the replicas. */
  static async start(size: 3 | 6 = 6): Promise<RedisCluster> {
    const ports = await freeGroupPorts(size);
    const servers = groupServers('cluster', ports);
    const cluster = new RedisCluster(await Promise.all(servers.map((it) => RedisNode.start(it))));
    await formGroup('cluster', ports);
    return cluster;
  }

  /** REDIS_URL of all nodes. */
  get url(): string {
    return groupUrl(
      'cluster',
      this.nodes.map(({ port }) => port),
    );
  }

  /** The primary of a slot, as the running nodes see it. */
  async primaryOf(slot: number): Promise<RedisNode> {
    const [observer] = this.#running;
    return this.#owner(await this.#lines(observer!), slot)!;
  }

  /** The primary of the slot of a key. */
  async primaryOfKey(key: string): Promise<RedisNode> {
    return this.primaryOf(await this.slotOf(key));
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.#running[0]!.redis.call('CLUSTER', 'KEYSLOT', key));
  }

  /** A running replica of a primary; waits until there is one. */
  async replicaOf(primary: RedisNode): Promise<RedisNode> {
    let found: RedisNode | undefined;
    await eventually(
      async () => {
        const infos = this.#running.map(({ redis }) => redis.info('replication'));
        const index = (await Promise.all(infos)).findIndex(
          (info) =>
            info.includes(`master_port:${primary.port}\r`) &&
            info.includes('master_link_status:up'),
        );
        found = this.#running[index];
        return found !== undefined;
      },
      `the node at ${primary.port} has a replica`,
      SECONDS_TO_FAIL_OVER,
    );
    return found!;
  }

  /**
   * Makes a replica the primary. Without a `mode`, the primary agrees, and nothing is lost; with
   * FORCE it may be frozen or killed; with TAKEOVER, the other primaries are not asked either.
   * Asks again, as the other primaries refuse a replica that has not heard of the last change.
   */
  async failOver(replica: RedisNode, ...mode: ['FORCE' | 'TAKEOVER'] | []): Promise<void> {
    const end = performance.now() + SECONDS_TO_FAIL_OVER * 1_000;
    for (;;) {
      if (!(await replica.isPrimary())) await replica.redis.call('CLUSTER', 'FAILOVER', ...mode);
      try {
        await this.promoted(replica, SECONDS_OF_AN_ATTEMPT);
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
  }

  /** Waits until a replica is the primary, and all running nodes know it. */
  async promoted(replica: RedisNode, seconds = SECONDS_TO_FAIL_OVER): Promise<void> {
    const isPrimary = (line: string) =>
      line.includes(`:${replica.port}@`) && /master(,| ).* connected \d/.test(line);
    await eventually(
      async () => {
        const views = await Promise.all(this.#running.map((node) => this.#lines(node)));
        return views.every((lines) => lines.some(isPrimary));
      },
      `the node at ${replica.port} is the primary`,
      seconds,
    );
  }

  /**
   * Moves a slot key by key from its primary to another one. `halfway` runs when half of the keys
   * have moved: a command on one key gets ASK then if the key has moved, a command on several keys
   * TRYAGAIN if some have.
   */
  async moveSlot(
    slot: number,
    to: RedisNode,
    halfway: () => void | Promise<void> = () => undefined,
  ): Promise<void> {
    const from = await this.primaryOf(slot);
    const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
    await to.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    const keys = Number(await from.redis.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
    await moveKeys(slot, { from, to, atMost: Math.floor(keys / 2) });
    await halfway();
    await moveKeys(slot, { from, to });
    // The new primary first, so that the slot always has one.
    await to.redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    await from.redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId).catch(ignoreIfReplica);
    await eventually(async () => {
      const views = await Promise.all(this.#running.map((node) => this.#lines(node)));
      return views.every((lines) => this.#owner(lines, slot) === to);
    }, `slot ${slot} is at the node at ${to.port}`);
  }

  /** Adds a primary without slots, or a replica of `primary`. */
  async addNode(primary?: RedisNode): Promise<RedisNode> {
    const [known] = this.#running;
    const [server] = groupServers('cluster', await freeGroupPorts(1));
    const node = await RedisNode.start(server!);
    this.nodes.push(node);
    await node.redis.call('CLUSTER', 'MEET', '127.0.0.1', known!.port);
    await eventually(async () => {
      const views = await Promise.all(this.#running.map((each) => this.#lines(each)));
      const info = (await node.redis.call('CLUSTER', 'INFO')) as string;
      return (
        info.includes('cluster_state:ok') && // a new node accepts no keys for 2 s
        views.every((lines) => lines.filter(isKnown).length === this.nodes.length)
      );
    }, 'all nodes know the new one');
    if (primary === undefined) return node;
    await node.redis.call('CLUSTER', 'REPLICATE', await idOf(primary));
    await eventually(async () => {
      return (await node.redis.info('replication')).includes('master_link_status:up');
    }, 'the new replica has all data');
    return node;
  }

  /**
   * Cuts the bus between a node and all others until `rejoin`, while clients reach all of them.
   * Resolves when the node refuses commands, which is before the others promote its replica, as it
   * waits for half as long. The replica keeps the connection over which it gets the data.
   */
  async cutOff(node: RedisNode): Promise<void> {
    const isCut = (from: number, to: number) =>
      [from, to].some((port) => port === this.#cutOff?.port);
    this.#bus = await Promise.all(this.nodes.map(({ port }) => BusProxy.before(port, isCut)));
    await this.#announce(this.#bus.map((proxy) => proxy.port));
    await node.redis.config('SET', 'cluster-node-timeout', NODE_TIMEOUT_MS / 2);
    this.#cutOff = node;
    await eventually(async () => {
      return ((await node.redis.call('CLUSTER', 'INFO')) as string).includes('cluster_state:fail');
    }, `the node at ${node.port} refuses commands`);
  }

  /** Undoes `cutOff`. */
  async rejoin(node: RedisNode): Promise<void> {
    this.#cutOff = undefined;
    await node.redis.config('SET', 'cluster-node-timeout', NODE_TIMEOUT_MS);
    await this.#announce(this.nodes.map(() => 0));
    await Promise.all(this.#bus.map((proxy) => proxy.close()));
    this.#bus = [];
  }

  async remove(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
    await Promise.all(this.#bus.map((proxy) => proxy.close()));
  }

  /** The nodes that the others reach. */
  get #running(): RedisNode[] {
    return this.nodes.filter((node) => node.isRunning && node !== this.#cutOff);
  }

  /** Announces the bus ports of all nodes (0: the default ones); resolves when they are in use. */
  async #announce(busPorts: readonly number[]): Promise<void> {
    const ends = busPorts.map((bus, index) => {
      const { port } = this.nodes[index]!;
      return `:${port}@${bus === 0 ? port + BUS : bus}`;
    });
    for (const [index, bus] of busPorts.entries())
      await this.nodes[index]!.redis.config('SET', 'cluster-announce-bus-port', bus);
    await eventually(async () => {
      const views = await Promise.all(this.nodes.map((node) => this.#lines(node)));
      return views.every((lines) =>
        ends.every((end) => lines.some((line) => line.includes(end) && isConnected(line))),
      );
    }, 'all nodes know the bus ports');
  }

  /** The nodes as one of them sees them: a line of CLUSTER NODES for each. */
  async #lines({ redis }: RedisNode): Promise<string[]> {
    return ((await redis.call('CLUSTER', 'NODES')) as string).trim().split('\n');
  }

  #owner(lines: readonly string[], slot: number): RedisNode | undefined {
    const line = lines.find((each) =>
      slotsIn(each).some(([from, to]) => from <= slot && slot <= to),
    );
    return this.nodes.find(({ port }) => line?.includes(`:${port}@`));
  }
}

async function idOf({ redis }: RedisNode): Promise<string> {
  return (await redis.call('CLUSTER', 'MYID')) as string;
}

/** A primary that has lost its last slot has made itself a replica. */
function ignoreIfReplica(error: unknown): void {
  if (!String(error).includes('only with masters')) throw error;
}

function isConnected(line: string): boolean {
  return / connected( |$)/.test(line) && isKnown(line);
}

function isKnown(line: string): boolean {
  return !/handshake|noaddr/.test(line);
}

/** The ranges of slots in a line of CLUSTER NODES, without those on the move. */
function slotsIn(line: string): (readonly [number, number])[] {
  const ranges = line
    .split(' ')
    .slice(8)
    .filter((range) => !range.startsWith('['));
  return ranges.map((range) => {
    const [from = '', to = from] = range.split('-');
    return [Number(from), Number(to)];
  });
}

async function moveKeys(
  slot: number,
  { from, to, atMost = Infinity }: { from: RedisNode; to: RedisNode; atMost?: number },
): Promise<void> {
  for (let moved = 0; moved < atMost; moved++) {
    const [key] = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
    if (key === undefined) return;
    await from.redis.call('MIGRATE', '127.0.0.1', to.port, key, 0, 5_000);
  }
}
