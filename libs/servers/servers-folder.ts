import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { processText, runningPidIn } from './process-start.mjs';
import type { RedisGroup, RedisKind } from './redis-client.js';

export const SERVER_NAMES = ['kafka', 'redis'] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

/**
 * A process with a pid file and a log. The processes of a group are numbered from 1. The reaper
 * stops servers that no test uses.
 */
export type ProcessName = ServerName | `${RedisGroup}-${number}` | 'reaper';

/** A group of redis-servers, at ports in a row. */
export interface GroupState {
  readonly how: 'native' | 'docker';
  readonly firstPort: number;
  readonly servers: number;
  /** Whether its servers have worked together. Otherwise the next start forms a new group. */
  readonly isComplete: boolean;
}

/** A project of docker compose, with the port of each server. */
export interface Compose {
  readonly project: string;
  readonly release: string;
  readonly kafka: number;
  readonly redis: number;
}

/** Where the servers of a folder were started last. */
export interface ServersState {
  readonly mode?: 'native' | 'docker';
  readonly kafka?: {
    readonly port: number;
    readonly controller?: number;
    readonly release: string;
  };
  readonly redis?: { readonly port: number };
  readonly docker?: Compose;
  readonly groups?: Partial<Record<RedisGroup, GroupState>>;
  /** The kind of Redis that was started last; single by default. */
  readonly redisKind?: RedisKind;
}

interface Options {
  /** Begins each line of progress. */
  readonly label: string;
  /** Addresses of servers that run elsewhere: they are checked, never started or stopped. */
  readonly given?: Partial<Record<ServerName, string>>;
  /** Ends the start of servers, and its downloads. */
  readonly signal?: AbortSignal;
}

/** The folder where servers keep data, logs, pid files and downloads. */
export class ServersFolder {
  readonly path: string;
  readonly label: string;
  readonly given: Partial<Record<ServerName, string>>;
  readonly signal: AbortSignal | undefined;
  readonly #state: string;

  constructor(folder: string, { label, given = {}, signal }: Options) {
    this.path = path.resolve(folder);
    this.label = label;
    this.given = given;
    this.signal = signal;
    this.#state = this.file('state.json');
  }

  /** A part of the names of containers: it differs for each folder. */
  get id(): string {
    return createHash('sha256').update(this.path).digest('hex').slice(0, 8);
  }

  file(...names: readonly string[]): string {
    return path.join(this.path, ...names);
  }

  /** Prints progress to standard error: standard output is for the results of commands. */
  say(text: string): void {
    process.stderr.write(`${this.label}: ${text}\n`);
  }

  /** Where servers were started last; they may have ended since. */
  readState(): ServersState {
    if (!existsSync(this.#state)) return {};
    return JSON.parse(readFileSync(this.#state, 'utf8')) as ServersState;
  }

  changeState(change: Partial<ServersState>): void {
    mkdirSync(this.path, { recursive: true });
    const state = { ...this.readState(), ...change };
    writeFileSync(`${this.#state}.new`, `${JSON.stringify(state, null, 2)}\n`);
    renameSync(`${this.#state}.new`, this.#state);
  }

  /** Deletes the data, logs and state of the servers; downloads stay. */
  purgeData(): void {
    if (!existsSync(this.path)) return;
    const names = readdirSync(this.path).filter((name) =>
      /^(kafka-data|redis-data|cluster-data|sentinel-data|logs|state)/.test(name),
    );
    for (const name of names) rmSync(this.file(name), { recursive: true, force: true });
  }

  /** The log of a native server, or of the reaper. */
  logFile(name: ProcessName): string {
    return this.file('logs', `${name}.log`);
  }

  /** Remembers a process as ours: its pid, and when it started. */
  writePid(name: ProcessName, pid: number): void {
    writeFileSync(this.#pidFile(name), processText(pid));
  }

  removePid(name: ProcessName): void {
    rmSync(this.#pidFile(name), { force: true });
  }

  /**
   * The pid of a native server, or of the reaper, that runs. Ignores a pid file whose process
   * ended, or whose pid belongs to another process by now.
   */
  runningPid(name: ProcessName): number | undefined {
    if (!existsSync(this.#pidFile(name))) return undefined;
    return runningPidIn(readFileSync(this.#pidFile(name), 'utf8'));
  }

  #pidFile(name: ProcessName): string {
    return this.file(`${name}.pid`);
  }
}
