import { setTimeout as delay } from 'node:timers/promises';
import {
  HOLDER,
  isOutOfMemory,
  LeaseLostError,
  type Lease,
  type ReconciliationStatus,
  type Shadow,
} from '#board-store';
import { Backoff, LogGapError, LogReader, logRanges, toError } from '#kafka-batch';
import type { Stores } from '../../infra/connections.module.js';
import type { DefinitionsTopic } from '../../infra/definitions-topic.js';
import type { KafkaConnection } from '../../infra/kafka.js';
import type { Logger } from '../../infra/logger.js';
import { Throttle } from '../../infra/throttle.js';
import { CatchUp, type CatchUpParts } from './catch-up.js';
import { CancelledError, HistoryCutError, OutOfMemoryError } from './errors.js';
import { LogFeed } from './log-feed.js';
import type { OpenShadow } from './log-history.js';
import { ProgressReporter, type RunProgress } from './progress.js';
import { RestartPolicy } from './retries.js';
import { RunLeases } from './run-leases.js';
import { isResumable, type OpenPlanned } from './shadow-plan.js';
import { ShadowQueue } from './shadow-queue.js';
import { StallWatch } from './stall-watch.js';

export interface ReconcilerParts
  extends
    Pick<Stores, 'store' | 'leases' | 'generations'>,
    Pick<KafkaConnection, 'kafka' | 'admin'> {
  /** The score topic. */
  readonly topic: string;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write'>;
  /** How long a generation stays available for a rollback after another one has replaced it. */
  readonly graceMs: number;
  /** The most records of the log to read per second, for reconciliations that set no limit of their own. */
  readonly eventsPerSecond?: number | undefined;
  readonly logger: Logger;
}

export interface RunOptions {
  /** Cancels the reconciliation, which undoes what it did, except promotions and what `keepsShadows` keeps. */
  readonly signal: AbortSignal;
  /** Keeps the shadows when the signal is aborted, so that the next reconciliation can continue them. */
  readonly keepsShadows?: boolean | undefined;
  /** The most records of the log to read per second, so that live ingest is not slowed down. */
  readonly eventsPerSecond?: number | undefined;
  /** Called twice a second, and when a board ends. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface RunWork<T> {
  readonly kind: ReconciliationStatus['kind'];
  /** The boards that are left to do; asked before each attempt. */
  boards(): readonly string[];
  /** Plans the shadows, by board, before any of them is begun. @throws HistoryCutError */
  plan(attempt: Attempt): Promise<ReadonlyMap<string, OpenPlanned>>;
  /** Brings a shadow to the live applied offsets and promotes or compares it; that of a snapshot to its ends, and keeps it. */
  finish(at: ShadowAtWork): Promise<T>;
  /** Undoes what `plan` has written, when the reconciliation was cancelled. */
  undo?(attempt: Attempt): Promise<void>;
}

/** One attempt of a reconciliation: the leases it holds, and the signal that ends it. */
export interface Attempt {
  readonly leases: RunLeases;
  readonly signal: AbortSignal;
}

export interface ShadowAtWork extends Pick<Attempt, 'signal'> {
  readonly lease: Lease;
  readonly shadow: Shadow;
  readonly queue: ShadowQueue;
  readonly catchUp: CatchUp;
  readonly progress: ProgressReporter;
  /** Reports the outcome, and releases the board. */
  readonly end: (outcome: string, equal?: boolean | null) => Promise<void>;
}

/** The waits between attempts are short, because an emptied Redis gets its boards back within seconds. */
const BACKOFF = { firstMs: 500, maxMs: 5_000 };
const COUNT_EVERY_MS = 500;

/**
 * Acquires the leases of some boards, plans and opens a shadow for each, reads the log once for all of them, and ends each shadow
 * separately. Begins again after a failure if that may help (`RestartPolicy`).
 * States of an attempt: leased, planned, catching up, then done; or failed or cancelled, which discards the shadows unless the
 * next attempt or reconciliation is to continue them. The header of lua/commands/move-5.lua draws the roles of a generation.
 */
export class GenerationRun<T> {
  /** Shadows of this attempt that have not ended. */
  readonly #open = new Map<Shadow, Lease>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly work: RunWork<T>,
    private readonly options: RunOptions,
  ) {}

  /** @throws LeaseHeldError, CancelledError, HistoryCutError, OutOfMemoryError, and other errors of the work */
  async run(): Promise<T[]> {
    const { signal } = this.options;
    const backoff = new Backoff(BACKOFF);
    const policy = new RestartPolicy(this.work.kind);
    for (;;)
      try {
        return await this.#attempt();
      } catch (error) {
        if (signal.aborted) throw this.#cancelled;
        if (!policy.helps(error)) throw error;
        this.parts.logger.warn(`the ${this.work.kind} begins again: ${toError(error).message}`);
        await delay(backoff.next(), undefined, { signal }).catch(() => undefined);
      }
  }

  get #cancelled(): CancelledError {
    return new CancelledError(this.options.keepsShadows === true);
  }

  async #attempt(): Promise<T[]> {
    const { leases: store, logger } = this.parts;
    const boards = this.work.boards();
    const acquiring = RunLeases.acquire(boards, { leases: store, logger, kind: this.work.kind });
    const leases = await acquiring.catch(async (error: unknown) => {
      throw await this.#explained(error, boards); // a full Redis also refuses new leases
    });
    try {
      const signal = AbortSignal.any([this.options.signal, leases.signal]);
      return await this.#runAll({ leases, signal });
    } catch (error) {
      const isCancelled = this.options.signal.aborted;
      const cause = await this.#orTakenOver(error, leases);
      const failure = isCancelled ? this.#cancelled : await this.#explained(cause, boards);
      const state = isCancelled ? 'cancelled' : 'failed';
      for (const board of boards) await leases.end(board, { state, outcome: failure.message });
      throw failure;
    } finally {
      await leases.close();
    }
  }

  async #runAll(attempt: Attempt): Promise<T[]> {
    this.#open.clear();
    try {
      const planned = await this.work.plan(attempt);
      const shadows: OpenShadow[] = [];
      for (const [board, open] of planned) shadows.push(await this.#begin(attempt, board, open));
      return await this.#catchUpAll(attempt, shadows);
    } catch (error) {
      await this.#discardUnfinished(error);
      const { signal, keepsShadows = false } = this.options;
      if (signal.aborted && !keepsShadows) await this.work.undo?.(attempt);
      throw error;
    }
  }

  async #begin({ leases, signal }: Attempt, board: string, open: OpenPlanned): Promise<OpenShadow> {
    signal.throwIfAborted();
    const lease = leases.lease(board);
    const opened = await open(lease);
    this.#open.set(opened.shadow, lease);
    leases.note(board, { generation: opened.shadow.generation });
    return opened;
  }

  /** Reads the log once for all shadows. The first failure ends all unfinished shadows. */
  async #catchUpAll(attempt: Attempt, shadows: readonly OpenShadow[]): Promise<T[]> {
    const { kafka, topic, logger } = this.parts;
    const { eventsPerSecond = this.parts.eventsPerSecond, onProgress } = this.options;
    const ended = new AbortController();
    const signal = AbortSignal.any([attempt.signal, ended.signal]);
    const throttle = new Throttle(eventsPerSecond);
    const feed = new LogFeed({
      open: (where) =>
        LogReader.open({ kafka, topic, signal, logger, ...where, endsAtUnreadable: true }),
      throttle,
      signal,
    });
    feed.cover((await logRanges(kafka, topic)).keys());
    const progress = new ProgressReporter(attempt.leases, onProgress);
    const queues = new Map(
      shadows.map(({ shadow, appliedOffsets: from }) => [shadow, new ShadowQueue(shadow, from)]),
    );
    const count = () =>
      progress.count(new Map([...queues].map(([{ board }, queue]) => [board, queue.progress])));
    const counting = setInterval(count, COUNT_EVERY_MS);
    const pass = { feed, throttle, signal, progress, count };
    const results = [...queues].map(([shadow, queue]) =>
      this.#finish(attempt, { shadow, queue }, pass),
    );
    const fail = (error: unknown) => ended.abort(error);
    const reading = feed.run();
    for (const part of [...results, reading]) part.catch(fail);
    await Promise.allSettled(results);
    clearInterval(counting);
    ended.abort(); // the feed may still wait for new records, which no shadow needs
    await reading.catch(() => undefined); // closes its reader; `fail` has its error
    try {
      return await Promise.all(results);
    } catch {
      throw ended.signal.reason; // the first failure, which ended all other work
    }
  }

  async #finish(
    { leases, signal }: Attempt,
    { shadow, queue }: Pick<ShadowAtWork, 'shadow' | 'queue'>,
    pass: Pass,
  ): Promise<T> {
    const { board } = shadow;
    const { progress, feed, count } = pass;
    const lease = leases.lease(board);
    feed.add(queue);
    const stalls = new StallWatch(this.parts, board);
    const catchUp = new CatchUp({ ...this.parts, ...pass, lease, queue, stalls });
    const end = async (outcome: string, equal?: boolean | null) => {
      count();
      await leases.end(board, { state: 'done', outcome, ...(equal !== undefined && { equal }) });
    };
    try {
      const at = { lease, shadow, queue, catchUp, progress, signal, end };
      const result = await this.work.finish(at);
      this.#open.delete(shadow);
      return result;
    } finally {
      feed.remove(queue);
      count();
    }
  }

  /** Discards unfinished shadows, unless they are to be continued. One that fills Redis up never is: it would block live ingest. */
  async #discardUnfinished(error: unknown): Promise<void> {
    const { signal, keepsShadows = false } = this.options;
    const isHopeless = error instanceof LogGapError || isOutOfMemory(error);
    const isOver = (signal.aborted && !keepsShadows) || isHopeless;
    if (!isOver && isResumable(this.work.kind)) return;
    for (const [shadow, lease] of this.#open)
      await this.parts.generations.discard(lease, shadow).catch((failure: unknown) => {
        // A sweep (of a verify or rollback) or the next reconciliation of the board takes over the shadow.
        const what = `could not discard generation ${shadow.generation} of board "${shadow.board}"`;
        this.parts.logger.warn(`${what}: ${toError(failure).message}`);
      });
  }

  /** If another process has taken over an expired lease, returns an error that names it: this reconciliation must end. */
  async #orTakenOver(error: unknown, leases: RunLeases): Promise<unknown> {
    if (!(error instanceof LeaseLostError) || !leases.mayHaveExpired(error.board)) return error;
    const { board } = error;
    const statuses = await this.parts.leases.statuses().catch(() => []);
    const holder = statuses.find((status) => status.board === board)?.holder ?? HOLDER;
    return holder === HOLDER ? error : new LeaseLostError(board, holder);
  }

  /** Translates the refusal of a full Redis, and the gap of a log that was cut meanwhile. */
  async #explained(error: unknown, boards: readonly string[]): Promise<Error> {
    if (isOutOfMemory(error))
      return new OutOfMemoryError(boards, await this.parts.store.memory().catch(() => undefined));
    if (!(error instanceof LogGapError)) return toError(error);
    const { partition, expected, log } = error;
    const cut = [{ partition, from: expected, logStart: log.start }];
    return new HistoryCutError(boards, cut, true);
  }
}

/** The parts that all shadows of an attempt share. The signal also ends the other shadows when one of them fails. */
interface Pass
  extends Pick<CatchUpParts, 'feed' | 'throttle' | 'signal'>, Pick<ShadowAtWork, 'progress'> {
  /** Reports how far all shadows are. */
  readonly count: () => void;
}
