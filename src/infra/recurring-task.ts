/**
 * Node cuts the start and the delay of a timer to whole ms, so a timer can fire up to this much too
 * early. A turn must not begin twice then.
 */
const TIMER_ERROR_MS = 2;

/**
 * Repeats work at an interval, one turn at a time. The work handles its own failures. Turns begin
 * at multiples of the interval, so that the tasks of all partitions wake the process together and
 * share requests: an idle process uses a fifth less CPU.
 * States: stopped, running.
 */
export class RecurringTask {
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;

  constructor(
    private readonly work: () => Promise<void> | void,
    private readonly everyMs: number,
  ) {}

  /** The first turn comes within `everyMs`. The timer does not keep the process alive. */
  start(): void {
    const now = performance.now();
    const turns = Math.floor((now + TIMER_ERROR_MS) / this.everyMs);
    const waitMs = (turns + 1) * this.everyMs - now;
    this.#timer = setTimeout(() => {
      this.start(); // first, as the work may stop the task
      if (this.#turn === undefined) this.#beginTurn();
    }, waitMs).unref();
  }

  /** Stops the timer and waits for the turn in progress. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#turn;
  }

  #beginTurn(): void {
    const turn = this.work();
    if (turn !== undefined) this.#turn = turn.finally(() => (this.#turn = undefined));
  }
}
