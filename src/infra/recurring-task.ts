/** Repeats work at an interval, one turn at a time. The work handles its own failures. States: stopped, running. */
export class RecurringTask {
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly everyMs: number,
  ) {}

  /** The first turn comes after `everyMs`. The timer does not keep the process alive. */
  start(): void {
    this.#timer = setInterval(() => {
      this.#turn ??= this.work().finally(() => (this.#turn = undefined));
    }, this.everyMs).unref();
  }

  /** Stops the timer and waits for the turn in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turn;
  }
}
