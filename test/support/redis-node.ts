import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { Redis } from 'ioredis';
import { configText, type GroupServer } from '../../libs/servers/redis-groups.js';
import { eventually } from './eventually.js';

/**
 * A redis-server of a group, which tests kill, freeze and restart. It writes its append-only file
 * before it answers, so a SIGKILL loses nothing. States: stopped, running, frozen.
 */
export class RedisNode {
  #process: ReturnType<typeof launch> | undefined;
  #state: 'stopped' | 'running' | 'frozen' = 'stopped';
  /** A connection to this server alone. */
  readonly redis: Redis;

  private constructor(
    private readonly server: GroupServer,
    private readonly folder: string,
  ) {
    const { port } = server;
    this.redis = new Redis({ port, retryStrategy: () => 100, maxRetriesPerRequest: 100 });
    this.redis.on('error', () => undefined); // commands report errors
  }

  static async start(server: GroupServer): Promise<RedisNode> {
    const folder = await mkdtemp(path.join(tmpdir(), 'ranklog-redis-'));
    await writeFile(path.join(folder, 'redis.conf'), configText(server, { dir: folder }));
    const node = new RedisNode(server, folder);
    await node.restart();
    return node;
  }

  get port(): number {
    return this.server.port;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Starts it with the data and the configuration that it had. */
  async restart(): Promise<void> {
    const flags = this.server.isSentinel ? ['--sentinel'] : [];
    this.#process = launch([path.join(this.folder, 'redis.conf'), ...flags]);
    this.#state = 'running';
    await eventually(() => this.redis.ping().then(() => true), `Redis answers at ${this.port}`);
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process;
    this.#state = 'stopped';
  }

  /** Stops its work, and leaves its connections open. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
    this.#state = 'frozen';
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
    this.#state = 'running';
  }

  async isPrimary(): Promise<boolean> {
    return (await this.redis.info('replication')).includes('role:master');
  }

  async remove(): Promise<void> {
    this.redis.disconnect();
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function launch(args: readonly string[]) {
  return execa('redis-server', args, { reject: false, cleanup: true });
}
