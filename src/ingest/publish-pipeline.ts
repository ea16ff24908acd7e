import type { Result } from './results.js';

/** Results of applied records, and the position that holds once they are in Kafka. */
export interface Publication {
  readonly results: readonly Result[];
  readonly nextOffset: number;
}

/** Unpublished results that a partition holds before it stops applying; a large one counts as several. */
export const MOST_WAITING_RESULTS = 4_000;

/** Results of one transaction: what waits meanwhile is published together, up to this many. */
const MOST_RESULTS_A_TRANSACTION = 2_000;

/** What counts as one result: a dead letter may be as large as its record. */
const BYTES_OF_A_RESULT = 4_096;

/**
 * Publishes in order while the next records are applied: one transaction at a time, each with all that has
 * gathered since. States: open, then failed (after the first error; nothing more is published) or closed.
 */
export class PublishPipeline {
  readonly #waiting: Publication[] = [];
  #waitingResults = 0;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  readonly #waitingForRoom: (() => void)[] = [];

  constructor(
    private readonly publish: (publication: Publication) => Promise<void>,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** Hands over a publication; resolves once there is room for another. @throws the error that broke the pipeline */
  async add(publication: Publication): Promise<void> {
    this.#throwFailure();
    this.#waiting.push(publication);
    this.#waitingResults += weight(publication);
    this.#running ??= this.#run();
    while (this.#waitingResults > MOST_WAITING_RESULTS) await this.#room();
    this.#throwFailure();
  }

  /** Resolves when all that was handed over is published. @throws the error that broke the pipeline */
  async drain(): Promise<void> {
    await this.#running;
    this.#throwFailure();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const publication = this.#takeTogether();
        await this.publish(publication);
        this.#waitingResults -= weight(publication);
        this.#notify();
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#running = undefined;
    }
  }

  #takeTogether(): Publication {
    const results: Result[] = [];
    let nextOffset = 0;
    let taken = 0;
    do {
      const publication = this.#waiting.shift();
      if (publication === undefined) break;
      results.push(...publication.results);
      nextOffset = publication.nextOffset;
      taken += weight(publication);
    } while (taken + weight(this.#waiting[0]) <= MOST_RESULTS_A_TRANSACTION);
    return { results, nextOffset };
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting.length = 0;
    this.#waitingResults = 0;
    this.#notify();
    this.onFailure(error);
  }

  #room(): Promise<void> {
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function weight(publication: Publication | undefined): number {
  let sum = 0;
  for (const { message } of publication?.results ?? [])
    sum += 1 + Math.floor((message.value?.length ?? 0) / BYTES_OF_A_RESULT);
  return sum;
}
