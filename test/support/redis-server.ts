import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { Redis } from 'ioredis';
import { KeySpace } from '#board-store';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/**
 * A redis-server process that tests kill and restart, also with other data. It writes its
 * append-only file before it answers, so a SIGKILL loses nothing. States: stopped, running.
 */
export class RedisServer {
  #process: ReturnType<typeof launch> | undefined;
  #keySpaces = 0;
  /** A connection without faults. */
  readonly redis: Redis;

  private constructor(
    readonly port: number,
    private readonly folder: string,
  ) {
    this.redis = new Redis({ port, retryStrategy: () => 100, maxRetriesPerRequest: 100 });
    this.redis.on('error', () => undefined); // commands report errors
  }

  /** Makes a new key space in it. */
  readonly newKeys = () => new KeySpace(`test:${this.#keySpaces++}`);

  /** Starts an empty server. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'ranklog-redis-'));
    const server = new RedisServer(await freePort(), folder);
    await server.start(...settings);
    return server;
  }

  /** Restarts it with its append-only file. */
  async start(...settings: string[]): Promise<void> {
    await this.#launch('--appendonly', 'yes', ...settings);
  }

  async startEmpty(): Promise<void> {
    await this.#clear();
    await this.start();
  }

  /** Restarts it with the data of the last `snapshot`. */
  async startFromSnapshot(): Promise<void> {
    await this.#clear();
    await cp(this.#file('snapshot.rdb'), this.#file('dump.rdb'));
    // with appendonly it would ignore the snapshot
    await this.#launch('--appendonly', 'no');
    await this.redis.config('SET', 'appendonly', 'yes');
    await eventually(async () => {
      const info = await this.redis.info('persistence');
      return /aof_rewrite_in_progress:0/.test(info) && /aof_rewrite_scheduled:0/.test(info);
    }, 'Redis has rewritten its append-only file');
  }

  /** Saves a copy of its data. */
  async snapshot(): Promise<void> {
    await this.redis.save();
    await cp(this.#file('dump.rdb'), this.#file('snapshot.rdb'));
  }

  /** The clients that are connected, without `redis`, replicas and a primary. */
  async otherClients(): Promise<string[]> {
    const own = await this.redis.client('ID');
    const list = (await this.redis.call('CLIENT', 'LIST', 'TYPE', 'normal')) as string;
    const clients = list.trim().split('\n');
    return clients.filter((client) => !client.startsWith(`id=${own} `));
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process;
    this.#process = undefined;
  }

  async remove(): Promise<void> {
    this.redis.disconnect();
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #launch(...settings: string[]): Promise<void> {
    const all = [
      ...['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder],
      ...['--save', '', '--appendfsync', 'no', '--repl-diskless-sync-delay', '0', ...settings],
    ];
    this.#process = launch(all);
    // it refuses connections while it starts, and commands while it loads its data
    const answers = () => this.redis.get('none').then(() => true);
    await eventually(answers, `redis-server answers at port ${this.port}`);
  }

  async #clear(): Promise<void> {
    await rm(this.#file('dump.rdb'), { force: true });
    await rm(this.#file('appendonlydir'), { recursive: true, force: true });
  }

  #file(name: string): string {
    return path.join(this.folder, name);
  }
}

function launch(settings: readonly string[]) {
  return execa('redis-server', settings, { reject: false, cleanup: true });
}
