import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 25;
const LAST_LINES = 20;
/** Longer than a `ranklog start` waits for its work to end. */
const KILL_AFTER_MS = 15_000;

/** The log says when ranklog runs, and where. */
const READABLE_LOG = { RANKLOG_LOG_FORMAT: 'json', RANKLOG_LOG_LEVEL: 'info' };

/** This environment without the settings of another ranklog. */
function inherited(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env);
  return Object.fromEntries(variables.filter(([name]) => !name.startsWith('RANKLOG_')));
}

/** The file that `npx ranklog` runs. */
function programFile(): string {
  const manifest = createRequire(import.meta.url).resolve('ranklog/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { ranklog: string } };
  return path.join(path.dirname(manifest), bin.ranklog);
}

/** A ranklog command in its own process, which ends when this process or its parent ends. */
export class RanklogProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #log = '';

  constructor(
    private readonly args: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.#child = spawn(process.execPath, [programFile(), ...args], {
      // ranklog watches its parents only if npm_lifecycle_event is set: see watchLauncher.
      env: { ...inherited(), ...env, ...READABLE_LOG, npm_lifecycle_event: 'test' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#log += data.toString();
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', resolve);
    });
  }

  /**
   * Resolves once the command has ended.
   * @throws unless its exit code is 0, and after the deadline, a time of performance.now()
   */
  async succeeds(deadline: number): Promise<void> {
    const late = delay(deadline - performance.now(), undefined, { ref: false });
    const code = await Promise.race([this.#ended, late]);
    if (code !== 0) throw this.#failure();
  }

  /**
   * Waits until the log has a text, and returns the match.
   * @throws if the command ends first, and after the deadline, a time of performance.now()
   */
  async logs(text: RegExp, deadline: number): Promise<RegExpExecArray> {
    for (;;) {
      const found = text.exec(this.#log);
      if (found !== null) return found;
      const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
      if (hasEnded || performance.now() > deadline) throw this.#failure();
      await delay(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #failure(): Error {
    const lines = this.#log.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
    const code = this.#child.exitCode ?? this.#child.signalCode;
    const what = code === null ? 'is not ready within timeoutMs' : `has ended with ${code}`;
    return new Error(`ranklog ${this.args.join(' ')} ${what}; the end of its log:\n${lines}`);
  }
}
