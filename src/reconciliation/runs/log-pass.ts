import type { Lease, Shadow } from '#board-store';
import { logRanges } from '#kafka-batch';
import { RecurringTask } from '../../infra/recurring-task.js';
import { Throttle } from '../../infra/throttle.js';
import { CatchUp } from './catch-up.js';
import { LogFeed } from './log-feed.js';
import type { OpenShadow } from './log-history.js';
import { ProgressReporter } from './progress.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import type { RunLeases } from './run-leases.js';
import { ShadowQueue } from './shadow-queue.js';
import { StallWatch } from './stall-watch.js';

const REPORT_EVERY_MS = 500;

/** A shadow that is being caught up, and the means for that. */
export interface ShadowWork {
  readonly lease: Lease;
  readonly shadow: Shadow;
  readonly queue: ShadowQueue;
  readonly catchUp: CatchUp;
  readonly progress: ProgressReporter;
  /**
   * The signal of the attempt. `catchUp` also stops when another shadow fails; recording the
   * definition of a promoted shadow must not.
   */
  readonly signal: AbortSignal;
}

interface PassOptions extends Pick<RunOptions, 'signal' | 'eventsPerSecond' | 'onProgress'> {
  readonly leases: RunLeases;
}

/**
 * One pass over the log for all shadows of an attempt. The first failure of a shadow or of the
 * reading ends the work on all shadows.
 * States: opened; reading from `start` until `finish` ends. Call `begin` for each shadow before
 * `start`.
 */
export class LogPass {
  /** Aborted by the first failure. */
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  readonly #throttle: Throttle;
  readonly #feed: LogFeed;
  readonly #progress: ProgressReporter;
  readonly #queues = new Map<Shadow, ShadowQueue>();
  readonly #reporting = new RecurringTask(() => this.report(), REPORT_EVERY_MS);
  #reading: Promise<void> | undefined;

  private constructor(
    private readonly parts: ReconcilerParts,
    private readonly options: PassOptions,
  ) {
    const { kafka, topic, logger } = parts;
    const { eventsPerSecond = parts.eventsPerSecond, leases, onProgress } = options;
    const signal = AbortSignal.any([options.signal, this.#ended.signal]);
    const throttle = new Throttle(eventsPerSecond);
    this.#signal = signal;
    this.#throttle = throttle;
    this.#feed = new LogFeed({ kafka, topic, signal, logger, throttle });
    this.#progress = new ProgressReporter(leases, onProgress);
  }

  static async open(
    parts: ReconcilerParts,
    shadows: readonly OpenShadow[],
    options: PassOptions,
  ): Promise<LogPass> {
    const pass = new LogPass(parts, options);
    pass.#feed.cover((await logRanges(parts.kafka, parts.topic)).keys());
    for (const { shadow, appliedOffsets } of shadows)
      pass.#queues.set(shadow, new ShadowQueue(shadow, appliedOffsets));
    return pass;
  }

  /** From now on, events of the shadow go to its queue. */
  begin(lease: Lease, shadow: Shadow): ShadowWork {
    const queue = this.#queues.get(shadow);
    if (queue === undefined) throw new Error(`no queue for generation ${shadow.generation}`);
    this.#feed.add(queue);

    const { generations, store, logger } = this.parts;
    const catchUp = new CatchUp({
      generations,
      store,
      logger,
      lease,
      queue,
      feed: this.#feed,
      throttle: this.#throttle,
      stalls: new StallWatch(this.parts, shadow.board),
      signal: this.#signal,
    });
    const { signal } = this.options;
    return { lease, shadow, queue, catchUp, progress: this.#progress, signal };
  }

  /** Stops the reading for a shadow. */
  leave({ queue }: Pick<ShadowWork, 'queue'>): void {
    this.#feed.remove(queue);
    this.report();
  }

  /** Reports how far all shadows are. */
  report(): void {
    const counts = [...this.#queues].map(([{ board }, queue]) => [board, queue.progress] as const);
    this.#progress.count(new Map(counts));
  }

  /** Begins to read the log and to report progress. */
  start(): void {
    this.#reading = this.#feed.run();
    this.#reading.catch((error: unknown) => this.#ended.abort(error));
    this.#reporting.start();
  }

  /**
   * Waits until the work on all shadows has ended; then ends the reading.
   * @throws the first failure
   */
  async finish(endings: readonly Promise<void>[]): Promise<void> {
    for (const ending of endings) ending.catch((error: unknown) => this.#ended.abort(error));
    const outcomes = await Promise.allSettled(endings);
    await this.#reporting.stop();
    this.#ended.abort(); // the feed may still wait for new records, which no shadow needs

    // Wait until the feed has closed its reader. A failure of the feed counts only if it was the
    // first failure: then it is the reason of `#ended`.
    await this.#reading?.catch(() => undefined);
    if (outcomes.some(({ status }) => status === 'rejected')) throw this.#ended.signal.reason;
  }
}
