import type { Message } from 'kafkajs';
import { toError } from '#kafka-batch';

/** A message for a result topic. It goes to the partition with the same number as the partition of the score event. */
export interface Result {
  readonly topic: string;
  readonly message: Message;
}

/** Results of applied records, and the published position once they are in Kafka. */
export interface Publication {
  readonly results: readonly Result[];
  readonly nextOffset: number;
}

/** A partition with more unpublished results than this waits before it applies more records. */
export const MAX_WAITING_RESULTS = 4_000;
const MAX_RESULTS_PER_TRANSACTION = 2_000;
/** A larger result counts as several: a dead letter may be as large as its record. */
const BYTES_OF_A_RESULT = 4_096;

/**
 * Publishes in order while the next records are applied. Runs one transaction at a time, each with the results that were added
 * during the previous one, up to a limit. States: open, then failed after the first error: nothing more is published.
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

  /** Adds a publication; resolves once there is room for another. @throws the error that failed the pipeline */
  async add(publication: Publication): Promise<void> {
    this.#throwFailure();
    this.#waiting.push(publication);
    this.#waitingResults += weight(publication);
    this.#running ??= this.#run();
    while (this.#waitingResults > MAX_WAITING_RESULTS)
      await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve));
    this.#throwFailure();
  }

  /** Resolves when everything is published. @throws the error that failed the pipeline */
  async drain(): Promise<void> {
    await this.#running;
    this.#throwFailure();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const publication = this.#takeNext();
        await this.publish(publication);
        this.#waitingResults -= weight(publication);
        this.#notify();
      }
    } catch (error) {
      this.#fail(toError(error));
    } finally {
      this.#running = undefined;
    }
  }

  #takeNext(): Publication {
    const results: Result[] = [];
    let nextOffset = 0;
    let taken = 0;
    do {
      const publication = this.#waiting.shift();
      if (publication === undefined) break;
      results.push(...publication.results);
      nextOffset = publication.nextOffset;
      taken += weight(publication);
    } while (taken + weight(this.#waiting[0]) <= MAX_RESULTS_PER_TRANSACTION);
    return { results, nextOffset };
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting.length = 0;
    this.#waitingResults = 0;
    this.#notify();
    this.onFailure(error);
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
