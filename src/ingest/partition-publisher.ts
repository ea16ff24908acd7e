import { Injectable } from '@nestjs/common';
import { firstValueFrom, Subject } from 'rxjs';
import { recordBytes } from '#contracts';
import { toError } from '#errors';
import { BatchEncoder, type PartitionAssignment } from '#kafka-batch';
import { Metrics } from '../infra/metrics.js';
import type { AppliedRun } from './applier.js';
import { requireNewest, timeOf } from './continuity-times.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { ResultLog, type OpenPublisher, type Publication, type Result } from './result-log.js';

/** A partition with more unpublished results than this waits before it applies more records. */
export const MAX_WAITING_RESULTS = 4_000;
const MAX_RESULTS_PER_TRANSACTION = 2_000;
/** A larger result counts as several. */
const BYTES_OF_A_RESULT = 4_096;

type Assignment = Pick<PartitionAssignment, 'partition' | 'restart'>;

interface PublisherServices {
  readonly resultLog: Pick<ResultLog, 'encode' | 'maxBytes' | 'publish' | 'recentContinuity'>;
  readonly deadLetters: Pick<DeadLetterReport, 'published'>;
  readonly metrics: Metrics;
}

@Injectable()
export class PublisherFactory {
  constructor(
    private readonly resultLog: ResultLog,
    private readonly deadLetters: DeadLetterReport,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Checks that the result topics have the partition. Call it before `open`.
   * @throws NeedsOperatorError
   */
  check({ partition }: Assignment): Promise<void> {
    return this.resultLog.checkPartition(partition);
  }

  /**
   * Fences the previous publisher of the partition. `tokens` are the continuity tokens of the
   * shards on which the results will be computed. Checks twice that no shard is on a replaced
   * server: before the fencing, because a process on such a server must fence no publisher, and
   * after it. A resync after the second check fences this publisher, so its first transaction
   * fails.
   * @throws ReplacedServerError
   */
  async open(assignment: Assignment, tokens: readonly string[]): Promise<PartitionPublisher> {
    const { resultLog, deadLetters, metrics } = this;
    const { partition } = assignment;
    const continuity = tokens.map(timeOf);
    requireNewest(continuity.entries(), await resultLog.newestContinuity());

    const publisher = await resultLog.openPublisher(partition);
    try {
      const published = await resultLog.publishedPosition(partition);
      requireNewest(continuity.entries(), await resultLog.newestContinuity());

      const services = { resultLog, deadLetters, metrics };
      const open = { partition, publisher, continuity };
      return new PartitionPublisher(services, assignment, open, published);
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }
}

/**
 * Publishes the results of one partition in order, while its next records are applied. Runs one
 * transaction at a time, each with the waiting results, up to a limit. A transaction begins when it
 * is full, or at `flush`, the end of a batch: under load, fewer transactions save Kafka nearly half
 * of its CPU.
 * States: open, failed, closed. The first error makes it failed and restarts the partition; then
 * nothing more is published.
 */
export class PartitionPublisher {
  readonly #waiting: Publication[] = [];
  #waitingResults = 0;
  /** Whether the caller has no more results for now. */
  #isFlushed = false;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  /** Emits when there may be room for more results. */
  readonly #room = new Subject<void>();
  #published: number;
  /** Called before each transaction with its last offset. */
  beforeTransaction: (through: number) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly services: PublisherServices,
    private readonly assignment: Assignment,
    private readonly open: OpenPublisher,
    published: number,
  ) {
    this.#published = published;
  }

  /** The published position. */
  get published(): number {
    return this.#published;
  }

  /**
   * Checks that the servers of Redis are the newest ones. A resync on newer servers fences this
   * publisher, which would otherwise not notice that while it has nothing to publish.
   * @throws ReplacedServerError
   */
  async checkServers(): Promise<void> {
    requireNewest(this.open.continuity.entries(), await this.services.resultLog.recentContinuity());
  }

  /**
   * Takes the results of a run, unless they are published. Publishes them at the latest after a
   * flush. Resolves once there is room for more.
   * @throws the error that failed the publisher
   */
  async add({ through, verdicts }: AppliedRun): Promise<void> {
    if (through < this.#published) return;
    this.#throwFailure();

    const { partition } = this.assignment;
    const results = verdicts.map(({ verdict, read }) =>
      this.services.resultLog.encode(partition, verdict, read),
    );
    const weight = results.reduce((sum, result) => sum + weightOf(result), 0);
    const publication = this.#publicationFor(weight);
    try {
      for (const result of results) this.#encode(result, publication);
    } catch (error) {
      this.#fail(toError(error));
      throw error;
    }

    publication.nextOffset = through + 1;
    publication.weight += weight;
    this.#waitingResults += weight;
    this.#gauge.inc(weight);
    this.#isFlushed = false;
    this.#start();

    while (this.#waitingResults > MAX_WAITING_RESULTS) await firstValueFrom(this.#room);
    this.#throwFailure();
  }

  /** Publishes all added results, however few they are. */
  flush(): void {
    this.#isFlushed = true;
    this.#start();
  }

  /** Publishes all added results, if that is still possible; otherwise the outbox keeps them. */
  async close(): Promise<void> {
    this.flush();
    await this.#running;
    await this.open.publisher.close();
  }

  get #gauge() {
    return this.services.metrics.gauges.ranklog_outbox_results;
  }

  #start(): void {
    if (this.#isDue) this.#running ??= this.#run();
  }

  /** Whether to publish the first publication now, without more results of the same batch. */
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
        await this.#publish(next);
        if (this.#failure !== undefined) return;
        this.#waitingResults -= next.weight;
        this.#gauge.dec(next.weight);
        this.#room.next();
      }
    } catch (error) {
      this.#fail(toError(error));
    } finally {
      this.#running = undefined;
    }
  }

  async #publish(publication: Publication): Promise<void> {
    const { resultLog, deadLetters, metrics } = this.services;
    await this.beforeTransaction(publication.nextOffset - 1);
    await resultLog
      .publish(this.open, publication)
      .finally(metrics.histograms.ranklog_publish_duration_seconds.startTimer());
    this.#published = publication.nextOffset;
    for (const letter of publication.deadLetters) deadLetters.published(letter);
    for (const [topic, { counts }] of publication.results)
      for (const [board, count] of counts)
        metrics.counters.ranklog_results_total.inc({ topic, board }, count);
  }

  #encode({ topic, board, record, deadLetter }: Result, publication: Publication): void {
    if (deadLetter !== undefined) publication.deadLetters.push(deadLetter);

    let topicResults = publication.results.get(topic);
    if (topicResults === undefined) {
      const maxBytes = this.services.resultLog.maxBytes(this.assignment.partition, topic);
      topicResults = { batches: new BatchEncoder(maxBytes), counts: new Map() };
      publication.results.set(topic, topicResults);
    }
    const { batches, counts } = topicResults;
    batches.add(record);
    counts.set(board, (counts.get(board) ?? 0) + 1);
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
    this.#gauge.dec(this.#waitingResults);
    this.#waitingResults = 0;
    this.#room.next();
    this.assignment.restart(error);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/**
 * How many results this one counts as. A dead letter copies the key and the headers of its record,
 * which may be large, so they count. In other results, they are small and do not count.
 */
function weightOf({ record, deadLetter }: Result): number {
  const { key = null, value, headers = {} } = record;
  const bytes =
    deadLetter === undefined ? (value?.length ?? 0) : recordBytes({ key, value, headers });
  return 1 + Math.floor(bytes / BYTES_OF_A_RESULT);
}
