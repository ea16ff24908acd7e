/**
 * Work that is done again and again, one turn at a time: while one takes long, no others gather behind it. The work tells
 * its failures itself. States: stopped, then running (`start` to `stop`).
 */
export class RecurringTask {
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly everyMs: number,
  ) {}

  /** The first turn comes after `everyMs`. It does not hold the process. */
  start(): void {
    this.#timer = setInterval(() => {
      this.#turn ??= this.work().finally(() => (this.#turn = undefined));
    }, this.everyMs).unref();
  }

  /** Ends with the turn in hand. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turn;
  }
}
