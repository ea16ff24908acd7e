import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT } from './project-copy.js';
import { runCommand, type CommandResult } from './run-command.js';

/** What `npm run services -- status --json` says of one server. */
export interface ServerStatus {
  readonly how: string;
  readonly address: string | null;
  readonly pid: number | null;
  readonly answers: boolean;
}

/** scripts/services with a folder of its own, and with a docker that is told what to answer. */
export class ServicesFolder {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-services-'));

  constructor() {
    this.docker('exit 1');
  }

  /** From now on `docker` is this shell script. */
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
