import type { Gauge } from 'prom-client';
import { firstValueFrom, Subject } from 'rxjs';
import { recordBytes } from '#contracts';
import { toError } from '#errors';
import { BatchEncoder, type OutgoingRecord } from '#kafka-batch';
import type { ReportedDeadLetter } from './dead-letter-report.js';

/** A record for a result topic. It goes to the partition with the same number as the partition of the score event. */
export interface Result {
  readonly topic: string;
  readonly board: string;
  readonly record: OutgoingRecord;
  /** Set for a dead letter. */
  readonly deadLetter?: ReportedDeadLetter;
}

/** Results of applied records, by topic, with their numbers by board; and the published position once they are in Kafka. */
export interface Publication {
  readonly results: Map<string, { batches: BatchEncoder; counts: Map<string, number> }>;
  readonly deadLetters: ReportedDeadLetter[];
  nextOffset: number;
  /** How many results there are; a large result counts as several. */
  weight: number;
}

/** A partition with more unpublished results than this waits before it applies more records. */
export const MAX_WAITING_RESULTS = 4_000;
const MAX_RESULTS_PER_TRANSACTION = 2_000;
/** A larger result counts as several. */
const BYTES_OF_A_RESULT = 4_096;

/**
 * Publishes in order while the next records are applied. Runs one transaction at a time, each with the results that wait, up to a
 * limit. A transaction begins when it is full, or at `flush`, the end of a batch: under load, fewer transactions save Kafka
 * nearly half of its CPU. States: open, then failed after the first error: nothing more is published.
 */
export class PublishPipeline {
  readonly #waiting: Publication[] = [];
  #waitingResults = 0;
  /** Whether the caller has no more results for now. */
  #isFlushed = false;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  /** Emits when there may be room for more results. */
  readonly #room = new Subject<void>();

  constructor(
    private readonly maxBytes: (topic: string) => number,
    private readonly publish: (publication: Publication) => Promise<void>,
    private readonly onFailure: (error: Error) => void,
    private readonly gauge: Pick<Gauge, 'inc' | 'dec'>,
  ) {}

  /**
   * Encodes results; they move the published position to `nextOffset`. Others of their batch, or a flush, must follow.
   * Resolves once there is room for more.
   * @throws the error that failed the pipeline
   */
  async add(results: readonly Result[], nextOffset: number): Promise<void> {
    this.#throwFailure();
    const weight = results.reduce((sum, result) => sum + weightOf(result), 0);
    const publication = this.#publicationFor(weight);
    try {
      for (const result of results) this.#encode(result, publication);
    } catch (error) {
      this.#fail(toError(error));
      throw error;
    }
    publication.nextOffset = nextOffset;
    publication.weight += weight;
    this.#waitingResults += weight;
    this.gauge.inc(weight);
    this.#isFlushed = false;
    this.#start();
    while (this.#waitingResults > MAX_WAITING_RESULTS) await firstValueFrom(this.#room);
    this.#throwFailure();
  }

  /** Publishes what was added, even if it is little. */
  flush(): void {
    this.#isFlushed = true;
    this.#start();
  }

  /** Resolves when everything is published. @throws the error that failed the pipeline */
  async drain(): Promise<void> {
    this.flush();
    await this.#running;
    this.#throwFailure();
  }

  #start(): void {
    if (this.#isDue) this.#running ??= this.#run();
  }

  /** Whether to publish the first waiting publication, or to wait for more results of the same batch. */
  get #isDue(): boolean {
    const [first, second] = this.#waiting;
    if (first === undefined) return false;
    const isFull = second !== undefined || first.weight >= MAX_RESULTS_PER_TRANSACTION;
    return isFull || this.#isFlushed;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isDue) {
        const next = this.#waiting.shift() as Publication;
        await this.publish(next);
        if (this.#failure !== undefined) return;
        this.#waitingResults -= next.weight;
        this.gauge.dec(next.weight);
        this.#room.next();
      }
    } catch (error) {
      this.#fail(toError(error));
    } finally {
      this.#running = undefined;
    }
  }

  #encode({ topic, board, record, deadLetter }: Result, publication: Publication): void {
    if (deadLetter !== undefined) publication.deadLetters.push(deadLetter);
    const ofTopic = publication.results.get(topic) ?? {
      batches: new BatchEncoder(this.maxBytes(topic)),
      counts: new Map<string, number>(),
    };
    publication.results.set(topic, ofTopic);
    ofTopic.batches.add(record);
    ofTopic.counts.set(board, (ofTopic.counts.get(board) ?? 0) + 1);
  }

  /** The last waiting publication if it has room, else a new one. */
  #publicationFor(weight: number): Publication {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.weight + weight <= MAX_RESULTS_PER_TRANSACTION) return last;
    const added = { results: new Map(), deadLetters: [], nextOffset: 0, weight: 0 };
    this.#waiting.push(added);
    return added;
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting.length = 0;
    this.gauge.dec(this.#waitingResults);
    this.#waitingResults = 0;
    this.#room.next();
    this.onFailure(error);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** A dead letter may have as large a key and headers as its record. Those of other results are small. */
function weightOf({ record, deadLetter }: Result): number {
  const { key = null, value, headers = {} } = record;
  const bytes =
    deadLetter === undefined ? (value?.length ?? 0) : recordBytes({ key, value, headers });
  return 1 + Math.floor(bytes / BYTES_OF_A_RESULT);
}
