import { RanklogProcess } from '../../support/instance.js';
import { eventually } from '../../support/eventually.js';

/** The time limit of a command: long, because some commands wait until the lease of a killed command expires. */
const TIMEOUT_SECONDS = 240;

/** A `ranklog boards ...` process. */
export class BoardsCommand {
  readonly #process: RanklogProcess;

  constructor(
    readonly args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.#process = new RanklogProcess(['boards', ...args], env);
  }

  /** Starts the same command again. */
  again(): BoardsCommand {
    return new BoardsCommand(this.args, this.env);
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null;
  }

  get log(): string {
    return this.#process.errors;
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.ended;
  }

  /** Waits for its exit code or signal. @throws if it does not end */
  async exitCode(): Promise<number | NodeJS.Signals | null> {
    try {
      await eventually(() => this.hasEnded, `"${this.#text}" ends`, TIMEOUT_SECONDS);
    } catch (error) {
      throw new Error(`"${this.#text}" does not end; its output: ${this.#all}`, { cause: error });
    }
    return this.#process.ended;
  }

  /** Waits for its end, and returns its standard output. @throws unless its exit code is 0 */
  async output(): Promise<string> {
    const code = await this.exitCode();
    if (code !== 0) throw new Error(`"${this.#text}" ended with ${code}: ${this.#all}`);
    return this.#process.output;
  }

  get #text(): string {
    return `ranklog boards ${this.args.join(' ')}`;
  }

  get #all(): string {
    return `${this.#process.output}${this.log}`;
  }
}
