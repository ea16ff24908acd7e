/** After this time, a piece of work goes on but no longer counts against the limit. */
const LONG_MS = 5_000;

/** Runs up to `most` pieces of work at once; others wait, first come, first served. */
export class AtOnce {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly most: number,
    private readonly longMs = LONG_MS,
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.most) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#running += 1;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    };
    const timer = setTimeout(over, this.longMs).unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      over();
    }
  }
}
