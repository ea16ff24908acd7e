import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  endServers,
  ServersFolder,
  startServers,
  stopServers,
  tryLock,
  type ServerName,
} from '#servers';
import { CommandError, EXIT } from '../text/exit-codes.js';

/** In the current folder. */
export const DEV_FOLDER = '.ranklog';

export function hasDevFolder(): boolean {
  return existsSync(DEV_FOLDER);
}

/** Runs Kafka and Redis, with their data in a folder, while one `ranklog dev` runs. */
export class DevServers {
  readonly #folder: ServersFolder;
  readonly #unlock: () => void;
  readonly #signal: AbortSignal;

  /** @throws CommandError if another process runs servers in this folder */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#folder = new ServersFolder(DEV_FOLDER, { label: 'ranklog', signal });
    mkdirSync(this.#folder.path, { recursive: true });
    writeFileSync(this.#folder.file('.gitignore'), '*\n');
    const unlock = tryLock(this.#folder.file('dev.lock'));
    if (unlock === undefined)
      throw new CommandError(
        `another "ranklog dev" uses ${path.resolve(DEV_FOLDER)}; end that one first`,
        EXIT.unreachable,
      );
    this.#unlock = unlock;
  }

  /**
   * Starts servers. They end with this process, however it ends, except for SIGKILL.
   * @returns their addresses; undefined if the signal was aborted meanwhile
   */
  async start(
    servers: readonly ServerName[],
    { reset }: { readonly reset: boolean },
  ): Promise<Partial<Record<ServerName, string>> | undefined> {
    if (reset) await stopServers(this.#folder, { purge: true });
    process.once('exit', () => endServers(this.#folder));
    const aborted = once(this.#signal, 'abort').then(() => undefined);
    if (this.#signal.aborted) return undefined;
    return Promise.race([startServers(this.#folder, { servers }), aborted]);
  }

  async stop(): Promise<void> {
    await stopServers(this.#folder);
    this.#unlock();
  }
}
