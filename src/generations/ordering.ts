import type { GenerationStore, Lease, UnorderedView } from '#board-store';
import type { Logger } from '../infra/logger.js';
import type { Throttle } from '../infra/throttle.js';
import { refusal } from './errors.js';
import type { LogFeed } from './log-feed.js';
import { withRetries } from './with-retries.js';
import type { WorkCounts } from './progress-meter.js';
import type { CallLimits } from '../ingest/split-calls.js';
import type { ShadowQueue } from './shadow-queue.js';

export interface OrderingParts {
  readonly generations: Pick<GenerationStore, 'order' | 'countUnordered'>;
  readonly lease: Lease;
  readonly queue: ShadowQueue;
  readonly feed: Pick<LogFeed, 'suspend' | 'resume'>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** What a call brings at most on the way. */
  readonly limits: CallLimits;
  /** Players that are put in order count as events, too. */
  readonly throttle: Throttle;
}

/** How often players are counted, as long as that takes no more than one part in so many of the time. */
const COUNT_EVERY_MS = 1_000;
const COUNT_SHARE = 100;
const COUNT_LATEST_MS = 60_000;

/**
 * Puts the players of a shadow in order that was begun without one: see GenerationStore.order.
 *
 * States: ahead, where players are counted now and then (`look`); begun (`run`), until all have their order.
 */
export class Ordering {
  #isAhead: boolean;
  #isBegun = false;
  #done = 0;
  #left = 0;
  #countNext = -Infinity;

  constructor(private readonly parts: OrderingParts) {
    const { purpose } = parts.queue.shadow;
    this.#isAhead = purpose === 'build' || purpose === 'snapshot';
  }

  /** undefined where nobody is to be put in order. */
  get counts(): WorkCounts['ordering'] {
    if (!this.#isAhead && !this.#isBegun) return undefined;
    return { done: this.#done, total: this.#done + this.#left, isBegun: this.#isBegun };
  }

  /** Counts who is to be put in order, where that was long ago: so the time that is left can be told before it is begun. */
  async look(): Promise<void> {
    if (this.#isAhead && performance.now() >= this.#countNext) await this.#count();
  }

  /**
   * Goes on with what is missing, whoever has begun it. The log is read without this shadow, if others wait for it.
   * `meanwhile` is done after each step. @throws as CatchUp
   */
  async run(meanwhile: () => Promise<unknown>): Promise<void> {
    let views = await this.#some([]);
    this.#isAhead = false;
    if (views.length === 0) return;
    const { feed, queue } = this.parts;
    await this.#begin();
    feed.suspend(queue);
    try {
      for (; views.length > 0; await meanwhile()) views = await this.#some(views);
    } finally {
      feed.resume(queue);
    }
    this.#left = 0;
  }

  async #begin(): Promise<void> {
    await this.#count();
    this.#isBegun = true;
    const { logger, lease } = this.parts;
    logger.info(
      `board "${lease.board}" has taken in the log; its players are put in order, ${this.#left} in all its views`,
    );
  }

  /** Answers what is to be gone on with. */
  async #some(views: readonly UnorderedView[]): Promise<readonly UnorderedView[]> {
    const { generations, lease, queue, signal, throttle, limits } = this.parts;
    signal.throwIfAborted();
    const step = { views, mostPlayers: limits.viewUpdates };
    const outcome = await this.#withRetries(() => generations.order(lease, queue.shadow, step));
    if (outcome.status !== 'applied') throw refusal(lease.board, outcome.status);
    await this.#note(outcome);
    await throttle.next(outcome.players, signal);
    return outcome.views;
  }

  /** A view has a player at least; what Redis has lost is counted again. */
  async #note({
    players,
    views,
  }: {
    readonly players: number;
    readonly views: readonly UnorderedView[];
  }): Promise<void> {
    this.#done += players;
    this.#left = Math.max(views.length, this.#left - players);
    const [first] = views;
    if (!this.#isBegun || first === undefined || performance.now() < this.#countNext) return;
    await this.#count(first.cursor === '0' ? undefined : first.view);
  }

  async #count(begun?: string): Promise<void> {
    const { generations, queue } = this.parts;
    const began = performance.now();
    this.#left = await this.#withRetries(() => generations.countUnordered(queue.shadow, begun));
    const now = performance.now();
    const pause = Math.max(COUNT_EVERY_MS, (now - began) * COUNT_SHARE);
    this.#countNext = now + Math.min(COUNT_LATEST_MS, pause);
  }

  #withRetries<T>(call: () => Promise<T>): Promise<T> {
    const { signal, logger } = this.parts;
    return withRetries(call, { signal, logger });
  }
}
