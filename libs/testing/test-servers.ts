import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  endServers,
  processText,
  runningPidIn,
  ServersFolder,
  startServers as startServersOf,
  stopServers,
  withLock,
} from '#servers';

/** In the current folder. */
const FOLDER = path.join('.ranklog', 'testing');

/** Kafka and Redis, until `stop`. */
export interface TestServers {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  /** Stops the servers, unless others use them, or the environment has named them. */
  stop(): Promise<void>;
}

/**
 * Kafka and Redis: those that KAFKA_BROKERS and REDIS_URL name. A server that is not named is started
 * in the folder `.ranklog/testing`, unless it runs. All processes of a test run share these servers,
 * and the last one stops them. To keep them for the whole run, call this in the global set-up of your
 * test runner.
 * @throws ServersError, with what to install
 */
export async function startServers(): Promise<TestServers> {
  const { KAFKA_BROKERS, REDIS_URL } = process.env;
  const folder = new ServersFolder(FOLDER, {
    label: 'ranklog',
    given: {
      ...(KAFKA_BROKERS && { kafka: KAFKA_BROKERS }),
      ...(REDIS_URL && { redis: REDIS_URL }),
    },
  });
  const use = new ServersUse(folder);
  try {
    await use.begin();
    const { kafka, redis } = await startServersOf(folder);
    return { kafkaBrokers: kafka, redisUrl: redis, stop: () => use.end() };
  } catch (error) {
    await use.end();
    throw error;
  }
}

/** One use of the servers of a folder. A file stands for it as long as its process lives. */
class ServersUse {
  readonly #users: string;
  readonly #file: string;
  readonly #atExit = () => {
    this.#forget();
    if (!this.#isUsed()) endServers(this.folder);
  };

  constructor(private readonly folder: ServersFolder) {
    this.#users = folder.file('users');
    this.#file = path.join(this.#users, randomUUID());
  }

  async begin(): Promise<void> {
    mkdirSync(this.#users, { recursive: true });
    writeFileSync(this.folder.file('.gitignore'), '*\n');
    await this.#locked(() => {
      writeFileSync(this.#file, processText(process.pid));
    });
    process.once('exit', this.#atExit);
  }

  async end(): Promise<void> {
    process.off('exit', this.#atExit);
    await this.#locked(async () => {
      this.#forget();
      if (!this.#isUsed()) await stopServers(this.folder);
    });
  }

  #locked(work: () => void | Promise<void>): Promise<void> {
    return withLock(this.folder.file('users.lock'), work);
  }

  #forget(): void {
    rmSync(this.#file, { force: true });
  }

  #isUsed(): boolean {
    return readdirSync(this.#users).some((name) => {
      return runningPidIn(textOf(path.join(this.#users, name))) !== undefined;
    });
  }
}

/** Empty if another process has just deleted the file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
