import type { BoardStore, CatchUpOutcome, GenerationStore, Lease, Stretch } from '#board-store';
import { refusal } from './errors.js';
import type { LogFeed } from './log-feed.js';
import { withRetries } from './with-retries.js';
import type { Counts } from './progress-meter.js';
import { FULL_CALL, type CallLimits } from '../ingest/split-calls.js';
import type { NextCall, ShadowQueue } from './shadow-queue.js';
import type { Logger } from '../infra/logger.js';
import type { Throttle } from '../infra/throttle.js';

/** A call that ends the catching up, if the shadow is at the live applied offsets then. */
export type Ending<E> = (stretches: readonly Stretch[]) => Promise<CatchUpOutcome<E>>;

/** How long news of the log is waited for before the live applied offsets are looked at again. */
const LOOK_AGAIN_MS = 200;

/** How often views of a shadow that have expired are removed: the log may make far more of them than are kept. */
const SWEEP_EVERY_MS = 2_000;

/**
 * So close to the live applied offsets that some calls should reach them, so many in vain let the next one bring twice as much, up
 * to so many times.
 */
const CALLS_IN_VAIN = 8;
const MOST_GROWTH = 4;

interface CatchUpParts {
  readonly generations: GenerationStore;
  readonly lease: Lease;
  readonly queue: ShadowQueue;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The most that one call brings. */
  readonly limits: CallLimits;
  readonly throttle: Throttle;
  readonly store: Pick<BoardStore, 'sweep'>;
  readonly feed: LogFeed;
  /** Hears that nothing has moved for so many ms: live ingest stands still, or is behind. */
  readonly onWait: (ms: number) => void | Promise<void>;
  /** How many calls are under way at once: with more than one, Redis need not wait for what this process does between them. */
  readonly callsAtOnce: number;
}

/** A call on its way, which nothing but a loss keeps from being applied as a whole. */
interface CallUnderWay {
  readonly stretches: readonly Stretch[];
  readonly outcome: Promise<CatchUpOutcome<never>>;
}

/**
 * Brings one shadow to the live applied offsets, call by call, and there to the endings asked for.
 *
 * A call that was refused is final: @throws LeaseLostError, ShadowLostError, LiveGenerationChangedError,
 * ServerChangedError, or the reason of the signal.
 */
export class CatchUp {
  /** Calls since the last ending that all that is live was read for. */
  #closeCalls = 0;
  #looked = -Infinity;
  #moved = performance.now();
  #swept = performance.now();
  #underWay: CallUnderWay[] = [];

  constructor(private readonly parts: CatchUpParts) {}

  /** Offset of the last event in the shadow, by partition. */
  get appliedOffsets(): Record<string, number> {
    return Object.fromEntries(this.parts.queue.appliedOffsets());
  }

  /** Records of the log from where the shadow begins: those it has taken in, of those it is to take in. */
  get counts(): Counts {
    return this.parts.queue.progress;
  }

  /** Repeats the ending until it finds the shadow at the live applied offsets of all partitions. */
  async reach<E>(ending: Ending<E>): Promise<E> {
    for (;;) {
      const reached = await this.#step(ending);
      if (reached !== undefined) return reached;
    }
  }

  /** Until a snapshot has taken in all that it is to show. */
  async reachEnds(): Promise<void> {
    while (!this.parts.queue.isAtEnds) await this.#step(undefined);
  }

  /** Players that an ending has dealt with count as events of the throttle, too. @throws the reason of the signal */
  async throttle(players: number): Promise<void> {
    await this.parts.throttle.next(players, this.parts.signal);
  }

  async #step<E>(ending: Ending<E> | undefined): Promise<E | undefined> {
    const { queue, signal } = this.parts;
    signal.throwIfAborted();
    await this.#sweep();
    const next = queue.next(this.#limits(ending));
    const isIdle = this.#underWay.length === 0;
    if (next.isNear && isIdle && ending !== undefined) return this.#end(ending, next.stretches);
    if (!(await this.#go(next))) await this.#wait();
    return undefined;
  }

  /** Gets on with what there is; false when nothing has moved. Where the log is what is waited for, calls are not made smaller by it. */
  async #go({ stretches, isNear, isFull }: NextCall): Promise<boolean> {
    const isUnderWay = this.#underWay.length > 0;
    if (isUnderWay && (isNear || !isFull)) return this.#land();
    if (isNear || stretches.length === 0)
      return stretches.length > 0 && (await this.#bring(stretches));
    this.#send(stretches);
    return this.#underWay.length < this.parts.callsAtOnce || (await this.#land());
  }

  /** Only of what lies below the live applied offsets, so that the next call may follow on it before it is answered. */
  #send(stretches: readonly Stretch[]): void {
    const { generations, lease, queue } = this.parts;
    const outcome = generations.catchUp(lease, queue.shadow, stretches);
    outcome.catch(() => undefined); // whoever lands it is told
    this.#underWay.push({ stretches, outcome });
    queue.send(stretches);
  }

  /** Waits for the first call that is under way. After one that failed, those behind it are brought again. */
  async #land(): Promise<boolean> {
    const [first, ...others] = this.#underWay;
    if (first === undefined) return false;
    this.#underWay = others;
    const outcome = await first.outcome.catch(() => undefined);
    if (outcome !== undefined) return this.#heard(outcome).hasMoved;
    await Promise.allSettled(others.map((call) => call.outcome));
    this.#underWay = [];
    this.parts.queue.unsend();
    return this.#bring(first.stretches);
  }

  /**
   * While live ingest applies faster than calls of the usual size follow, they grow: the last one has to bring all that is missing.
   * They never cost more view updates than a full call: that would block live ingest for too long.
   */
  #limits(ending: unknown): CallLimits {
    const { limits } = this.parts;
    if (ending === undefined || !this.#isClose) return limits;
    const growth = Math.min(MOST_GROWTH, 2 ** Math.floor(this.#closeCalls++ / CALLS_IN_VAIN));
    const viewUpdates = Math.min(FULL_CALL.viewUpdates, limits.viewUpdates * growth);
    return { entries: limits.entries * growth, viewUpdates };
  }

  /** Whether some calls should bring the shadow to the live applied offsets, as they were last heard of. */
  get #isClose(): boolean {
    const { limits, queue } = this.parts;
    return (
      queue.behindLive().length === 0 && queue.countBelowLive() <= limits.entries * MOST_GROWTH
    );
  }

  /** Answers whether anything moved. */
  async #bring(stretches: readonly Stretch[]): Promise<boolean> {
    const { generations, lease, queue } = this.parts;
    const call = () => generations.catchUp(lease, queue.shadow, stretches);
    return this.#heard(await this.#withRetries(call)).hasMoved;
  }

  async #end<E>(ending: Ending<E>, stretches: readonly Stretch[]): Promise<E | undefined> {
    const outcome = await this.#withRetries(() => ending(stretches));
    const { hasMoved, reached } = this.#heard(outcome);
    if (reached !== undefined) {
      this.#closeCalls = 0;
      return reached;
    }
    if (!hasMoved) await this.#wait();
    return undefined;
  }

  #heard<E>(outcome: CatchUpOutcome<E>): { hasMoved: boolean; reached?: E } {
    const { queue, feed } = this.parts;
    if (outcome.status !== 'applied') throw refusal(this.parts.lease.board, outcome.status);
    const hasMoved = queue.heard(outcome.appliedOffsets);
    feed.roomMade();
    if (hasMoved) this.#moved = performance.now();
    return outcome.ending === undefined ? { hasMoved } : { hasMoved, reached: outcome.ending };
  }

  /** Until there is news of the log, or a moment has passed; partitions that are live and not read yet are read from then on. */
  async #wait(): Promise<void> {
    const { feed, onWait } = this.parts;
    await feed.news(LOOK_AGAIN_MS);
    if (await this.#lookAgain()) await onWait(performance.now() - this.#moved);
  }

  /** Answers false when it was looked a moment ago. */
  async #lookAgain(): Promise<boolean> {
    if (performance.now() - this.#looked < LOOK_AGAIN_MS) return false;
    await this.#look();
    return true;
  }

  async #look(): Promise<void> {
    const { generations, lease, queue, feed } = this.parts;
    const live = await this.#withRetries(() => generations.liveAppliedOffsets(lease.board));
    this.#looked = performance.now();
    if (queue.heardLive(live)) this.#moved = performance.now();
    feed.cover(live.keys());
  }

  async #sweep(): Promise<void> {
    const { store, queue, signal } = this.parts;
    if (performance.now() - this.#swept < SWEEP_EVERY_MS) return;
    while ((await this.#withRetries(() => store.sweep(queue.shadow))) > 0) signal.throwIfAborted();
    this.#swept = performance.now();
  }

  /** Redis may be away for a while; a call that ran and was not answered may be repeated. */
  #withRetries<T>(call: () => Promise<T>): Promise<T> {
    const { signal, logger } = this.parts;
    return withRetries(call, { signal, logger });
  }
}
