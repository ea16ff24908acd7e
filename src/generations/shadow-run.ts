import type { Admin, Kafka } from 'kafkajs';
import type { BoardStore, GenerationStore, Lease } from '#board-store';
import { LogReader, logRanges, toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { Throttle } from '../infra/throttle.js';
import { CatchUp } from './catch-up.js';
import { AppliedBeyondLogError } from './errors.js';
import { LogFeed, type ReadFrom } from './log-feed.js';
import { IS_IT_RUNNING } from './log-times.js';
import type { Counts } from './progress-meter.js';
import type { OpenShadow } from './history.js';
import { FULL_CALL } from '../ingest/split-calls.js';
import { ShadowQueue } from './shadow-queue.js';

/** What a run reads, and where it writes. */
export interface RunParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topic: string;
  readonly generations: GenerationStore;
  readonly store: Pick<BoardStore, 'sweep'>;
  readonly logger: Logger;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Records of the log, at most so many a second. */
  readonly eventsPerSecond?: number | undefined;
  /** Hears about each second how far a board is. */
  readonly onCount: (board: string, counts: Counts) => void;
}

/** One shadow, and what is to be done with it when it is at the live applied offsets. */
export interface Job<T> {
  readonly lease: Lease;
  readonly open: OpenShadow;
  readonly finish: (catchUp: CatchUp) => Promise<T>;
}

/** So that Redis need not wait while this process makes the next call; a third one gains nothing more. */
const CALLS_AT_ONCE = 2;

/** A throttled run makes short calls, so that those of live ingest do not wait behind them. */
const SHORT_CALL = { entries: 100, viewUpdates: 400 };

const COUNT_EVERY_MS = 500;
/** How often it is looked whether the log has what is waited for, and told that nothing moves. */
const CHECK_EVERY_MS = 1_000;
/** A leader that was replaced and does not know it yet may tell of an older end of the log. */
const LOOKS = 3;
const SAY_AFTER_MS = 10_000;

/** One pass over the log for the shadows of all jobs; each goes its own way through it, and ends for itself. */
export class ShadowRun {
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  readonly #throttle: Throttle;
  readonly #feed: LogFeed;
  #checked = performance.now();
  /** By board: how often in a row the log was found to end before what is live. */
  readonly #beyond = new Map<string, number>();
  /** Boards of which it was told that nothing moves. */
  readonly #said = new Set<string>();

  constructor(
    private readonly parts: RunParts,
    private readonly options: RunOptions,
  ) {
    const { kafka, topic, logger } = parts;
    this.#signal = AbortSignal.any([options.signal, this.#ended.signal]);
    this.#throttle = new Throttle(options.eventsPerSecond);
    const signal = this.#signal;
    const open = (where: ReadFrom) => LogReader.open({ kafka, topic, signal, logger, ...where });
    this.#feed = new LogFeed({ open, throttle: this.#throttle, signal });
  }

  /** What each job came to. The first failure ends those that are not done; what ends the reading then is none. @throws it */
  async run<T>(jobs: readonly Job<T>[]): Promise<T[]> {
    this.#feed.cover((await logRanges(this.parts.admin, this.parts.topic)).keys());
    const work = jobs.map((job) => this.#finish(job));
    const parts = [...work, this.#feed.run()];
    await Promise.all(parts.map((part) => this.#endAllWith(part)));
    const ends = await Promise.allSettled(work);
    if (ends.some(({ status }) => status === 'rejected')) this.#ended.signal.throwIfAborted();
    return await Promise.all(work);
  }

  async #endAllWith(part: Promise<unknown>): Promise<void> {
    try {
      await part;
    } catch (error) {
      this.#ended.abort(error);
    }
  }

  async #finish<T>(job: Job<T>): Promise<T> {
    const { generations, store, logger } = this.parts;
    const queue = new ShadowQueue(job.open.shadow, job.open.appliedOffsets);
    this.#feed.add(queue);
    const { eventsPerSecond } = this.options;
    const calls =
      eventsPerSecond === undefined
        ? { limits: FULL_CALL, callsAtOnce: CALLS_AT_ONCE }
        : { limits: SHORT_CALL, callsAtOnce: 1 };
    const catchUp = new CatchUp({
      ...{ generations, store, logger, lease: job.lease, queue, feed: this.#feed, ...calls },
      throttle: this.#throttle,
      signal: this.#signal,
      onWait: (ms) => this.#lookWhatIsWaitedFor(queue, ms),
    });
    const count = () => this.options.onCount(job.lease.board, catchUp.counts);
    const counting = setInterval(count, COUNT_EVERY_MS);
    try {
      return await job.finish(catchUp);
    } finally {
      clearInterval(counting);
      this.#feed.remove(queue);
      count();
    }
  }

  /** @throws AppliedBeyondLogError: what never comes is not waited for */
  async #lookWhatIsWaitedFor(queue: ShadowQueue, ms: number): Promise<void> {
    const { board } = queue.shadow;
    const behind = queue.behindLive();
    const now = performance.now();
    if (behind.length > 0 && now - this.#checked >= CHECK_EVERY_MS) {
      this.#checked = now;
      await this.#checkLog(board, behind);
    }
    if (ms < SAY_AFTER_MS) this.#said.delete(board);
    if (ms < SAY_AFTER_MS || this.#said.has(board)) return;
    this.#said.add(board);
    const seconds = Math.round(ms / 1_000);
    const what =
      behind.length > 0
        ? `the log to be read, of which nothing has come for ${seconds} s`
        : `live ingest, which has stood still for ${seconds} s: ${IS_IT_RUNNING}`;
    this.parts.logger.warn(`board "${board}" waits for ${what}`);
  }

  async #checkLog(
    board: string,
    behind: readonly { partition: number; live: number }[],
  ): Promise<void> {
    const { admin, topic, logger } = this.parts;
    const ranges = await logRanges(admin, topic).catch((error: unknown) => {
      logger.debug(`the ends of the log can't be read now: ${toError(error).message}`);
    });
    if (ranges === undefined) return; // Kafka is away: that is waited for
    const beyond = behind
      .map(({ partition, live }) => ({
        partition,
        appliedOffset: live,
        logEnd: ranges.get(partition)?.end ?? Infinity, // a partition that was added just now
      }))
      .filter(({ appliedOffset, logEnd }) => appliedOffset >= logEnd);
    const looks = beyond.length > 0 ? (this.#beyond.get(board) ?? 0) + 1 : 0;
    this.#beyond.set(board, looks);
    if (looks >= LOOKS) throw new AppliedBeyondLogError(board, beyond);
  }
}
