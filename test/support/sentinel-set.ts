import {
  formGroup,
  freeGroupPorts,
  groupServers,
  groupUrl,
} from '../../libs/servers/redis-groups.js';
import { eventually } from './eventually.js';
import { RedisNode } from './redis-node.js';

const SIZE = 5;

/** A primary, its replica and three sentinels of a test, which does harm to them. */
export class SentinelSet {
  private constructor(
    readonly servers: readonly RedisNode[],
    readonly sentinels: readonly RedisNode[],
    readonly url: string,
  ) {}

  static async start(): Promise<SentinelSet> {
    const ports = await freeGroupPorts(SIZE);
    const all = groupServers('sentinel', ports);
    const nodes = await Promise.all(all.map((server) => RedisNode.start(server)));
    await formGroup('sentinel', ports);
    return new SentinelSet(nodes.slice(0, 2), nodes.slice(2), groupUrl('sentinel', ports));
  }

  /** The server that all running sentinels name; undefined while they differ. */
  async primary(): Promise<RedisNode | undefined> {
    const asked = this.sentinels
      .filter((sentinel) => sentinel.isRunning)
      .map(async ({ redis }) => {
        const [, port] = (await redis.call(
          'SENTINEL',
          'GET-MASTER-ADDR-BY-NAME',
          'ranklog',
        )) as string[];
        return Number(port);
      });
    const [first, ...others] = await Promise.all(asked);
    if (others.some((port) => port !== first)) return undefined;
    return this.servers.find(({ port }) => port === first);
  }

  /**
   * Does harm to the primary, and waits until the sentinels have promoted the replica. Sentinels
   * promote no other one within 12 s, and need 10 s to demote the old primary when it is back.
   * @returns the new primary
   */
  async failOver(harm: (primary: RedisNode) => unknown): Promise<RedisNode> {
    const old = await this.primary();
    const replica = this.servers.find((server) => server !== old);
    if (old === undefined || replica === undefined) throw new Error('the sentinels do not agree');
    await harm(old);
    const isDone = async () => (await this.primary()) === replica && (await replica.isPrimary());
    await eventually(isDone, 'the sentinels have promoted the replica', 30);
    return replica;
  }

  /**
   * Lets the sentinels take a server for dead, while its other clients use it. They ask it what it
   * is, but make it no replica until `rejoin`.
   */
  async cutOff({ redis }: RedisNode): Promise<void> {
    await redis.call('ACL', 'SETUSER', 'default', '-ping');
  }

  /** Undoes `cutOff`. */
  async rejoin({ redis }: RedisNode): Promise<void> {
    await redis.call('ACL', 'SETUSER', 'default', '+ping');
  }

  /** Waits until the sentinels have made a server that is back a replica of the primary. */
  async demoted(server: RedisNode): Promise<void> {
    const isDone = async () =>
      (await server.redis.info('replication')).includes('master_link_status:up');
    await eventually(isDone, `the server at ${server.port} is a replica`, 60);
  }

  async remove(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((node) => node.remove()));
  }
}
