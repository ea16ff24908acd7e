import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '#errors';
import { Backoff } from '../kafkajs/backoff.js';
import { toRecord } from '../kafkajs/committed-messages.js';
import { LogGapError, PermanentPartitionError } from '../kafkajs/kafka-errors.js';
import type { KafkaBatchLogger } from '../kafkajs/kafka-logger.js';
import type { FetchedBatch } from '../kafkajs/kafkajs-patches.js';
import type { LogRange, PartitionAssignment, RecordBatch } from '../kafkajs/types.js';
import { BatchQueue, type QueuedBatch, type QueueLimits } from './batch-queue.js';
import { ProgressClock } from './progress-clock.js';

/**
 * How often to look at a log that seems to end too early, and the pause between looks: a new leader
 * may lag at first.
 */
export const LOOKS = { most: 10, pauseMs: 300 };

export type PartitionState = 'starting' | 'running' | 'backingOff' | 'failed' | 'released';

export interface PartitionHealth {
  readonly state: PartitionState;
  readonly error: Error | undefined;
  /**
   * How long the partition has had work (a start or records) without finishing any; 0 without work,
   * or once it has failed.
   */
  readonly stuckMs: number;
  /** Offsets that are not handled yet, up to the end of the log at the last fetch. */
  readonly lag: number;
  /**
   * The age in ms of the oldest record that is not handled, by its time in Kafka; 0 without lag.
   */
  readonly lagMs: number;
}

export interface PartitionHandlers {
  assigned(assignment: PartitionAssignment): Promise<number>;
  batch(batch: RecordBatch): Promise<unknown>;
  released(assignment: PartitionAssignment): Promise<unknown>;
  /** Called before a permanent error stops the partition. Returns true to restart it instead. */
  stops?(error: PermanentPartitionError): boolean;
}

/** What the consumer does for one partition. */
export interface PartitionControl {
  pause(): void;
  resume(): void;
  seek(offset: number): void;
  logRange(): Promise<LogRange>;
  stillOurs(): Promise<boolean>;
}

export interface PartitionWorkerOptions {
  readonly topic: string;
  readonly partition: number;
  readonly handlers: PartitionHandlers;
  readonly control: PartitionControl;
  readonly queue: QueueLimits;
  readonly backoff: { firstMs: number; maxMs: number } | undefined;
  readonly logger: KafkaBatchLogger;
}

/**
 * Runs the handlers of one partition, one call at a time, from its assignment to its loss. States:
 * starting (paused; the application looks up its offset), running, backingOff (paused after a
 * failure; then starting again), failed (a permanent error; paused until the partition is assigned
 * anew), released (the end). Only a running worker takes batches, and only those fetched since its
 * last seek. After a rebalance that leaves the partition with this member, the consumer keeps a
 * running worker and replaces any other.
 */
export class PartitionWorker {
  #state: PartitionState = 'starting';
  #failure: Error | undefined;
  #paused = true;
  /** Start offset of the next fetch. */
  #expected = 0;
  #soughtAt = 0;
  #logEnd = 0;
  #handled = 0;
  /** The time in Kafka of the first record of the last batch in hand. */
  #recordTime = Date.now();
  readonly #queue = new BatchQueue();
  readonly #backoff: Backoff;
  readonly #clock = new ProgressClock();
  readonly #stop = new AbortController();
  #restart: ((reason: Error) => void) | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(private readonly options: PartitionWorkerOptions) {
    this.#backoff = new Backoff(options.backoff);
  }

  get health(): PartitionHealth {
    const lag = Math.max(0, this.#logEnd - this.#handled);
    const lagMs = lag === 0 ? 0 : Math.max(0, Date.now() - this.#recordTime);
    return { state: this.#state, error: this.#failure, stuckMs: this.#clock.stuckMs, lag, lagMs };
  }

  /** Starts when `after`, the end of the previous worker, resolves. */
  start(after: Promise<void>): void {
    this.#done = after.then(() => this.#run());
  }

  /**
   * Continues after a rebalance that left the partition with this member and paused it. Seeks past
   * the last batch, because kafkajs would go back to the committed offset. Returns false if the
   * worker is not running.
   */
  continue(): boolean {
    if (this.#state !== 'running') return false;
    this.#seek();
    if (!this.#paused) this.options.control.resume();
    return true;
  }

  /** Resolves when the current handler has returned and the partition is released. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /**
   * Takes a batch, or returns false if kafkajs must not move on. Drops a fetch that was sent before
   * the last seek. Once earlier batches are handled, any other fetch with an unexpected offset
   * restarts the worker, and a fetch that begins with a batch that can't be read stops it. Never
   * waits.
   */
  offer(batch: FetchedBatch): boolean {
    if (this.#state !== 'running' || batch.askedAt < this.#soughtAt) return false;

    const from = Number(batch.fetchedOffset);
    const { fetchedSince, unreadable } = batch;
    const isNext = from === this.#expected && unreadable === undefined;
    const records = isNext ? batch.messages.map(toRecord) : [];
    if (isNext) this.#expected = Number(batch.lastOffset()) + 1;
    this.#logEnd = Number(batch.highWatermark);
    this.#queue.put({ from, records, nextOffset: this.#expected, fetchedSince, unreadable });
    this.#clock.working();
    // kafkajs would fetch a refused batch again and again.
    if (!this.#paused && (!isNext || this.#isFull())) this.#pause();
    return isNext;
  }

  /** Ends the current start with this error, as `restart` of the assignment does. */
  restart(reason: Error): void {
    this.#restart?.(reason);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#runStart();
      } catch (error) {
        await this.#recover(toError(error));
      }
    }
    this.#state = 'released';
    this.#clock.idle();
  }

  async #recover(error: Error): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { topic, partition, logger, handlers } = this.options;
    this.#failure = error;

    if (error instanceof PermanentPartitionError && handlers.stops?.(error) !== true) {
      this.#state = 'failed';
      this.#clock.idle();
      logger.error(`${topic}/${partition} stops: ${error.message}`, { error });
      // `stops` may have stopped the worker.
      if (!this.#stop.signal.aborted) await once(signal, 'abort');
      return;
    }

    this.#state = 'backingOff';
    void this.#readLogEnd();
    const wait = this.#backoff.next();
    const text = `starts again in ${Math.round(wait)} ms: ${error.message}`;
    logger.warn(`${topic}/${partition} ${text}`, { error });
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }

  /** Reads the end of the log, for the lag. Ignores failures. */
  async #readLogEnd(): Promise<void> {
    try {
      const { end } = await this.options.control.logRange();
      this.#logEnd = end;
    } catch {
      // The next fetch has the end of the log, too.
    }
  }

  /**
   * One start of the partition. Always throws: the failure of the start, or an abort error once the
   * worker is stopped.
   */
  async #runStart(): Promise<void> {
    const { handlers } = this.options;
    const ended = new AbortController();
    const assignment = this.#newAssignment(ended);
    const { signal } = assignment;
    this.#state = 'starting';
    this.#clock.working();
    this.#queue.clear();
    try {
      const offset = await handlers.assigned(assignment);
      if (!signal.aborted) await this.#consume(assignment, offset);
      signal.throwIfAborted();
    } catch (error) {
      // After a request to restart, a waiting handler fails with an error that does not count.
      throw ended.signal.aborted ? toError(ended.signal.reason) : error;
    } finally {
      await this.#release(assignment, ended);
    }
  }

  /** Releases even if pausing fails, as it does after a crash of the kafkajs consumer. */
  async #release(assignment: PartitionAssignment, ended: AbortController): Promise<void> {
    if (this.#state === 'running') this.#state = 'starting';
    ended.abort();
    await this.#attempt('pausing', () => this.#pause());
    await this.#attempt('releasing', () => this.options.handlers.released(assignment));
  }

  async #attempt(what: string, step: () => unknown): Promise<void> {
    const { topic, partition, logger } = this.options;
    try {
      await step();
    } catch (error) {
      logger.error(`${what} ${topic}/${partition} failed`, { error });
    }
  }

  #newAssignment(ended: AbortController): PartitionAssignment {
    const { topic, partition, control } = this.options;
    this.#restart = (reason) => ended.abort(reason);
    return {
      topic,
      partition,
      signal: AbortSignal.any([this.#stop.signal, ended.signal]),
      stillOurs: () => control.stillOurs(),
      restart: this.#restart,
      progress: () => this.#clock.progress(),
    };
  }

  async #consume(assignment: PartitionAssignment, offset: number): Promise<void> {
    const { queue } = this.options;
    // If the log does not hold the offset, kafkajs would silently go to another one.
    const log = await this.#checkLog(offset);
    this.#logEnd = log.end;
    if (assignment.signal.aborted) return;

    this.#expected = offset;
    this.#handled = offset;
    this.#state = 'running';
    this.#failure = undefined;
    this.#clock.started(offset);
    this.#seek();
    this.#resume();
    let expected = offset;
    for (;;) {
      const next = await this.#queue.take(assignment.signal);
      if (next === undefined) return;
      if (next.from !== expected) await this.#refuse(next.from, expected);
      if (next.unreadable !== undefined) throw next.unreadable;

      await this.#handle(assignment, next);
      expected = next.nextOffset;
      if (this.#paused && this.#queue.records < queue.low && !this.#isFull()) this.#resume();
    }
  }

  async #handle(assignment: PartitionAssignment, batch: QueuedBatch): Promise<void> {
    const { topic, partition, handlers } = this.options;
    const { nextOffset, records } = batch;
    this.#clock.taken(nextOffset);
    this.#recordTime = records[0]?.timestamp ?? this.#recordTime;
    await handlers.batch({ assignment, topic, partition, ...batch });
    this.#handled = nextOffset;
    this.#clock.finished(nextOffset, this.#queue.records > 0);
    this.#backoff.reset();
  }

  /**
   * Always throws: LogGapError if the log does not hold the expected offset, otherwise an error
   * that restarts the partition.
   */
  async #refuse(found: number, expected: number): Promise<never> {
    await this.#checkLog(expected);
    throw new Error(
      `refused records from offset ${found} on, because offset ${expected} comes next; ` +
        'asking for the start offset again',
    );
  }

  /**
   * Checks that the log holds the offset, or ends there. Looks again while the log ends too early,
   * because a new leader may show its last records late.
   * @throws LogGapError
   */
  async #checkLog(expected: number): Promise<LogRange> {
    const { topic, partition, control } = this.options;
    for (let look = 1; ; look++) {
      const log = await control.logRange();
      if (log.start <= expected && expected <= log.end) return log;
      if (log.start > expected || look === LOOKS.most)
        throw new LogGapError(topic, partition, expected, log);
      await delay(LOOKS.pauseMs);
    }
  }

  #isFull(): boolean {
    const { high, bytes } = this.options.queue;
    return this.#queue.records > high || this.#queue.bytes > bytes;
  }

  #seek(): void {
    this.#soughtAt = performance.now();
    this.options.control.seek(this.#expected);
  }

  #pause(): void {
    this.#paused = true;
    this.options.control.pause();
  }

  #resume(): void {
    this.#paused = false;
    this.options.control.resume();
  }
}
