import { RanklogProcess } from '../../support/instance.js';
import { eventually } from '../../support/eventually.js';

/**
 * The time limit of a command: long, because some commands wait until the lease of a killed command
 * expires.
 */
const TIMEOUT_SECONDS = 240;

/** A process of a command that ends by itself. */
export class RanklogCommand {
  readonly #process: RanklogProcess;

  constructor(
    readonly args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.#process = new RanklogProcess(args, env);
  }

  /** Starts the same command again. */
  again(): RanklogCommand {
    return new RanklogCommand(this.args, this.env);
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

  /**
   * Waits for its end, and returns its standard output.
   * @throws unless its exit code is one of `codes`
   */
  async output(codes: readonly unknown[] = [0]): Promise<string> {
    const code = await this.exitCode();
    if (!codes.includes(code)) throw new Error(`"${this.#text}" ended with ${code}: ${this.#all}`);
    return this.#process.output;
  }

  get #text(): string {
    return `ranklog ${this.args.join(' ')}`;
  }

  get #all(): string {
    return `${this.#process.output}${this.log}`;
  }
}
