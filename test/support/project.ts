import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The project's folder. */
export const PROJECT = path.resolve(import.meta.dirname, '../..');

/** A copy of parts of the project, with a link to the project's node_modules. */
export class ProjectCopy {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-copy-'));

  constructor(parts: readonly string[]) {
    for (const part of parts)
      cpSync(path.join(PROJECT, part), path.join(this.folder, part), { recursive: true });
    symlinkSync(path.join(PROJECT, 'node_modules'), path.join(this.folder, 'node_modules'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without a terminal or input. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => (output.stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (output.stderr += data.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ exitCode: code ?? (signal ? 1 : 0), ...output }));
  });
}

/** A server in `npm run services -- status --json`. */
export interface ServerStatus {
  readonly how: string;
  readonly address: string | null;
  readonly pid: number | null;
  readonly answers: boolean;
}

/**
 * Runs scripts/services.mjs with a folder of its own, and with a shell script in place of docker.
 */
export class ServicesFolder {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-services-'));

  constructor() {
    this.docker('exit 1');
  }

  /** Replaces `docker` by this shell script. */
  docker(script: string): void {
    const file = this.path('bin', 'docker');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  path(...parts: readonly string[]): string {
    return path.join(this.folder, ...parts);
  }

  /** `npm run services -- ARGS`, without servers in the environment unless `env` names some. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    const none = { KAFKA_BROKERS: undefined, REDIS_URL: undefined };
    const PATH = `${this.path('bin')}:${process.env['PATH'] ?? ''}`;
    return runCommand(process.execPath, [path.join(PROJECT, 'scripts/services.mjs'), ...args], {
      env: { ...process.env, ...none, PATH, RANKLOG_SERVICES_DIR: this.folder, ...env },
    });
  }

  async status(): Promise<{ exitCode: number; kafka: ServerStatus; redis: ServerStatus }> {
    const { exitCode, stdout } = await this.run(['status', '--json']);
    const { kafka, redis } = JSON.parse(stdout) as { kafka: ServerStatus; redis: ServerStatus };
    return { exitCode, kafka, redis };
  }

  /** The pid in a pid file. */
  pid(server: 'kafka' | 'redis'): number {
    return Number(readFileSync(this.path(`${server}.pid`), 'utf8').split('\n')[0]);
  }

  async remove(): Promise<void> {
    await this.run(['down']);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
