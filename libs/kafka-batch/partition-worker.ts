import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from './backoff.js';
import { BatchQueue, type QueuedBatch, type QueueLimits } from './batch-queue.js';
import { toRecord } from './cluster.js';
import { LogGapError, PermanentPartitionError, toError, type LogRange } from './errors.js';
import type { FetchedBatch } from './every-fetch.js';
import { ProgressClock } from './progress-clock.js';
import type { KafkaBatchLogger, PartitionAssignment, RecordBatch } from './types.js';

/** How often it is looked whether a log really ends where it seems to: a leader that lost its place may answer late. */
export const LOOKS = { most: 10, pauseMs: 300 };

export type PartitionState = 'starting' | 'running' | 'backingOff' | 'failed' | 'released';

/** What the application does with a partition. */
export interface PartitionHandlers {
  assigned(assignment: PartitionAssignment): Promise<number>;
  batch(batch: RecordBatch): Promise<void>;
  released(assignment: PartitionAssignment): Promise<void>;
  /** The partition is about to stop for good; true lets it start again. Missing: it stops. */
  stops?(error: PermanentPartitionError): boolean;
}

/** What a worker needs of the consumer, for its own partition. */
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
  readonly backoff: { firstMs: number; mostMs: number };
  readonly logger: KafkaBatchLogger;
}

/**
 * Runs the handlers of one partition, one call at a time, from its assignment to its loss.
 *
 * States: starting (paused; the application finds its offset), running, backingOff (after a failure, paused; then
 * starting again), failed (a permanent error; paused until the partition is assigned anew), released (the end).
 * Only a running worker takes batches; what was fetched for an earlier start is dropped. A rebalance that leaves the
 * partition with this member ends every state but running, which goes on.
 */
export class PartitionWorker {
  #state: PartitionState = 'starting';
  #failure: Error | undefined;
  #incarnation = 0;
  #paused = true;
  /** Where the next fetch has to begin. */
  #expected = 0;
  #soughtAt = 0;
  readonly #queue = new BatchQueue();
  readonly #backoff: Backoff;
  readonly #clock = new ProgressClock();
  readonly #stop = new AbortController();
  #restart: ((reason: Error) => void) | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(private readonly options: PartitionWorkerOptions) {
    this.#backoff = new Backoff(options.backoff);
  }

  get status(): { state: PartitionState; error: Error | undefined; stuckMs: number } {
    return { state: this.#state, error: this.#failure, stuckMs: this.#clock.stuckMs };
  }

  /** Begins once `after`, the end of the worker before it, is there. */
  start(after: Promise<void>): void {
    this.#done = after.then(() => this.#run());
  }

  /**
   * Continues after a rebalance that left the partition with this member and paused it. Seeks behind the last taken batch, as
   * kafkajs would go back to the committed offset. Returns false if the worker is not running.
   */
  goOn(): boolean {
    if (this.#state !== 'running') return false;
    this.#seek();
    if (!this.#paused) this.options.control.resume();
    return true;
  }

  /** Ends the worker; resolves when its last handler has returned and the partition is released. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /**
   * Returns whether it took the batch; if not, kafkajs must not move on. Drops a fetch that was sent before the last seek. Any
   * other fetch that does not follow on restarts the worker, once the batches before it are handled. Never waits.
   */
  offer(batch: FetchedBatch): boolean {
    if (this.#state !== 'running' || batch.askedAt < this.#soughtAt) return false;
    const from = Number(batch.fetchedOffset);
    const followsOn = from === this.#expected;
    if (followsOn) this.#expected = Number(batch.lastOffset()) + 1;
    const records = followsOn ? batch.messages.map(toRecord) : [];
    const { inSightSince } = batch;
    this.#queue.put({ from, records, nextOffset: this.#expected, inSightSince });
    this.#clock.working();
    // After a refusal, kafkajs would fetch the same batch again and again.
    if (!this.#paused && (!followsOn || this.#isFull())) this.#pause();
    return followsOn;
  }

  /** As if the application had asked for it. */
  restart(reason: Error): void {
    this.#restart?.(reason);
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#assignment();
      } catch (error) {
        await this.#recover(toError(error));
      }
    }
    this.#state = 'released';
    this.#clock.idle();
  }

  async #recover(error: Error): Promise<void> {
    if (this.#stop.signal.aborted) return; // it is over, whatever was in hand
    const { topic, partition, logger, handlers } = this.options;
    this.#failure = error;
    if (error instanceof PermanentPartitionError && handlers.stops?.(error) !== true) {
      this.#state = 'failed';
      this.#clock.idle();
      logger.error(`${topic}/${partition} stops: ${error.message}`, { error });
      await aborted(this.#stop.signal);
      return;
    }
    this.#state = 'backingOff';
    const wait = this.#backoff.next();
    logger.warn(`${topic}/${partition} starts again in ${Math.round(wait)} ms: ${error.message}`, {
      error,
    });
    await delay(wait, undefined, { signal: this.#stop.signal }).catch(() => undefined); // woken by stop
  }

  /** One start of the partition: to its loss (returns) or to a failure (throws). */
  async #assignment(): Promise<void> {
    const { handlers } = this.options;
    const ended = new AbortController();
    const stop = () => {
      ended.abort();
    };
    this.#stop.signal.addEventListener('abort', stop, { once: true });
    const assignment = this.#newAssignment(ended);
    this.#state = 'starting';
    this.#clock.working();
    this.#queue.clear();
    try {
      const offset = await handlers.assigned(assignment);
      if (!ended.signal.aborted) await this.#consume(assignment, offset);
      ended.signal.throwIfAborted();
    } catch (error) {
      // A handler that was waiting ends with an error of its own when a restart is asked for: that is the one to tell.
      throw ended.signal.reason instanceof RestartRequest ? ended.signal.reason.failure : error;
    } finally {
      this.#stop.signal.removeEventListener('abort', stop);
      await this.#release(assignment, ended);
    }
  }

  /** Released comes what may: kafkajs can't pause between a crash of its consumer and the restart. */
  async #release(assignment: PartitionAssignment, ended: AbortController): Promise<void> {
    if (this.#state === 'running') this.#state = 'starting';
    ended.abort();
    await this.#attempt('pausing', () => {
      this.#pause();
    });
    await this.#attempt('releasing', () => this.options.handlers.released(assignment));
  }

  async #attempt(what: string, step: () => Promise<void> | void): Promise<void> {
    const { topic, partition, logger } = this.options;
    try {
      await step();
    } catch (error) {
      logger.error(`${what} ${topic}/${partition} failed`, { error });
    }
  }

  #newAssignment(ended: AbortController): PartitionAssignment {
    const { topic, partition, control } = this.options;
    const restart = (reason: Error) => {
      ended.abort(new RestartRequest(reason));
    };
    this.#restart = restart;
    return {
      topic,
      partition,
      incarnation: ++this.#incarnation,
      signal: ended.signal,
      stillOurs: () => control.stillOurs(),
      restart,
      progress: () => {
        this.#clock.progress();
      },
    };
  }

  async #consume(assignment: PartitionAssignment, offset: number): Promise<void> {
    const { queue } = this.options;
    await this.#checkLog(offset); // kafkajs would go to another offset without a word
    if (assignment.signal.aborted) return;
    this.#expected = offset;
    this.#state = 'running';
    this.#failure = undefined;
    this.#clock.started(offset);
    this.#seek();
    this.#resume();
    for (let expected = offset; ;) {
      const next = await this.#queue.take(assignment.signal);
      if (next === undefined) return;
      if (next.from !== expected) await this.#refuse(next.from, expected);
      await this.#handle(assignment, next);
      expected = next.nextOffset;
      if (this.#paused && this.#queue.records < queue.low && !this.#isFull()) this.#resume();
    }
  }

  async #handle(assignment: PartitionAssignment, batch: QueuedBatch): Promise<void> {
    const { topic, partition, handlers } = this.options;
    const { nextOffset } = batch;
    this.#clock.taken(nextOffset);
    await handlers.batch({ assignment, topic, partition, ...batch });
    this.#clock.finished(nextOffset, this.#queue.records > 0);
    this.#backoff.reset();
  }

  /** @throws LogGapError if the log does not hold the expected offset, where kafkajs jumps to another one */
  async #refuse(found: number, expected: number): Promise<never> {
    await this.#checkLog(expected);
    throw new Error(
      `refused records from offset ${found} on, because offset ${expected} comes next; reading again from the applied position`,
    );
  }

  /** @throws LogGapError when the log does not hold the offset; a new leader may show its last records late */
  async #checkLog(expected: number): Promise<void> {
    const { topic, partition, control } = this.options;
    for (let look = 1; ; look++) {
      const log = await control.logRange();
      if (log.start <= expected && expected <= log.end) return;
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

/** Why an assignment was ended by the application. */
class RestartRequest {
  constructor(readonly failure: Error) {}
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}
