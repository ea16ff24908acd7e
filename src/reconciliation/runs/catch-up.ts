import type { BoardStore, CatchUpOutcome, GenerationStore, Lease, Stretch } from '#board-store';
import type { Logger } from '../../infra/logger.js';
import type { Throttle } from '../../infra/throttle.js';
import { FULL_CALL, type CallLimits } from '../../ingest/split-calls.js';
import type { LogFeed } from './log-feed.js';
import { withRetries } from './retries.js';
import { callRefusal } from './run-errors.js';
import type { ShadowQueue } from './shadow-queue.js';
import type { StallWatch } from './stall-watch.js';

/**
 * Makes a catch-up call that also promotes or compares (the ending) if its stretches bring the
 * shadow to the live applied offsets.
 */
export type Ending<E> = (stretches: readonly Stretch[]) => Promise<CatchUpOutcome<E>>;

/** How long to wait for more of the log before reading the live applied offsets again. */
const LOOK_EVERY_MS = 200;

/** How often to remove expired views: the log may create far more views than a board keeps. */
const SWEEP_EVERY_MS = 2_000;

/**
 * After every ENDINGS_IN_VAIN steps close to the live applied offsets without a successful ending,
 * the call size doubles, up to MOST_GROWTH times the usual size.
 */
const ENDINGS_IN_VAIN = 8;
const MOST_GROWTH = 4;

/**
 * An entry costs Redis about half as much as in live ingest, because catch-up looks up no ranks. So
 * a call has twice as many entries.
 */
const CATCH_UP_CALL: CallLimits = { ...FULL_CALL, entries: 2 * FULL_CALL.entries };

/** Throttled reconciliations make short calls, so that live ingest does not wait for long. */
const SHORT_CALL: CallLimits = {
  entries: 100,
  viewUpdates: 400,
};

export interface CatchUpParts {
  readonly generations: GenerationStore;
  readonly store: Pick<BoardStore, 'sweep'>;
  readonly logger: Logger;
  readonly lease: Lease;
  readonly queue: ShadowQueue;
  readonly feed: LogFeed;
  readonly throttle: Throttle;
  readonly stalls: StallWatch;
  readonly signal: AbortSignal;
}

/**
 * A call in flight. All its entries are at or below the live applied offsets, so Redis applies all
 * of them unless it has lost data.
 */
interface UnansweredCall {
  readonly stretches: readonly Stretch[];
  readonly outcome: Promise<CatchUpOutcome<never>>;
}

/**
 * Brings one shadow to the live applied offsets. Sends the next events of the queue, call by call,
 * until a call with an ending finds the shadow at these offsets. Far below them, keeps two calls in
 * flight: Redis applies one while this process makes the next. A throttled run has one in flight.
 * @throws the error for a call that the store refuses (see `callRefusal`), AppliedBeyondLogError,
 * the reason of the signal
 */
export class CatchUp {
  readonly #limits: CallLimits;
  /** The call that was sent last, if its answer was not taken yet. */
  #unanswered: UnansweredCall | undefined;
  /** Steps close to the live applied offsets since an ending last succeeded. */
  #stepsInVain = 0;
  /** When the live applied offsets were last read. */
  #lookedAt = -Infinity;
  #sweptAt = performance.now();

  constructor(private readonly parts: CatchUpParts) {
    this.#limits = parts.throttle.isThrottled ? SHORT_CALL : CATCH_UP_CALL;
  }

  /**
   * Applies the log, call by call, until the ending succeeds. Calls that should reach the live
   * applied offsets have the ending.
   */
  async reach<E>(ending: Ending<E>): Promise<E> {
    for (;;) {
      let limits = this.#limits;
      if (this.#isClose) {
        limits = this.#grownLimits();
        this.#stepsInVain += 1;
      }
      const reached = await this.#step(limits, ending);
      if (reached !== undefined) {
        this.#stepsInVain = 0;
        return reached;
      }
    }
  }

  /** Applies the log up to the ends of a snapshot. */
  async reachEnds(): Promise<void> {
    while (!this.parts.queue.isAtEnds) await this.#step(this.#limits);
  }

  /**
   * Waits until the throttle allows the work on some players or event ids. They count as records.
   * Notes progress, so that no stall is reported.
   * @throws the reason of the signal
   */
  async waitForThrottle(players: number): Promise<void> {
    const { signal, throttle, stalls } = this.parts;
    signal.throwIfAborted();
    await throttle.next(players, signal);
    stalls.moved();
  }

  /**
   * Makes the next call or takes an answer. Returns the result of an ending that succeeded. While a
   * call is unanswered, sends only full calls that end below the live applied offsets.
   */
  async #step<E>(limits: CallLimits, ending?: Ending<E>): Promise<E | undefined> {
    const { signal, queue, throttle } = this.parts;
    signal.throwIfAborted();
    await this.#sweep();

    const { stretches, reachesLive, isFull } = queue.next(limits);
    const last = this.#unanswered;
    const mayOverlap = isFull && !reachesLive && !throttle.isThrottled;
    if (mayOverlap) {
      this.#send(stretches);
      if (last !== undefined) await this.#takeAnswer(last);
      return undefined;
    }
    if (last === undefined) return this.#call(stretches, reachesLive ? ending : undefined);

    // This call can't overlap with the last one. Take that answer now; the next step makes this
    // call.
    this.#unanswered = undefined;
    await this.#takeAnswer(last);
    queue.settle();
    return undefined;
  }

  /** Whether the shadow is close to the live applied offsets. */
  get #isClose(): boolean {
    const { queue } = this.parts;
    return queue.behindLive().length === 0 && queue.countBelowLive() <= this.#limits.viewUpdates;
  }

  /**
   * The limits of the next call close to the live applied offsets. An ending succeeds only if its
   * call applies everything that is missing. So the limits grow while live ingest is as fast as
   * calls of the usual size. The view updates never exceed the limit of a full call: more would
   * block live ingest for too long.
   */
  #grownLimits(): CallLimits {
    const limits = this.#limits;
    const doublings = Math.floor(this.#stepsInVain / ENDINGS_IN_VAIN);
    const growth = Math.min(MOST_GROWTH, 2 ** doublings);
    const viewUpdates = Math.min(FULL_CALL.viewUpdates, limits.viewUpdates * growth);
    return { entries: limits.entries * growth, viewUpdates };
  }

  #send(stretches: readonly Stretch[]): void {
    const outcome = this.#apply(stretches);
    outcome.catch(() => undefined); // reported where it is awaited
    this.#unanswered = { stretches, outcome };
    this.parts.queue.send(stretches);
  }

  /**
   * Takes the answer of a sent call. Repeats a failed call. After a gap, sends the events again,
   * from the applied offsets on.
   */
  async #takeAnswer({ outcome, stretches }: UnansweredCall): Promise<void> {
    const answer = await this.retry(() => this.#apply(stretches), outcome);
    if (answer.status !== 'gap') {
      this.#note(answer);
      return;
    }

    // A later call may be in flight. Ignore its outcome: its events are sent again, too.
    await this.#unanswered?.outcome.catch(() => undefined);
    this.#unanswered = undefined;

    const { queue } = this.parts;
    queue.settle();
    const again = queue.next(this.#limits);
    await this.#call(again.stretches); // throws if more is lost
  }

  /** Returns the result of an ending that succeeded. If no offset has moved, waits for the log. */
  async #call<E>(stretches: readonly Stretch[], ending?: Ending<E>): Promise<E | undefined> {
    const outcome = await this.retry<CatchUpOutcome<E>>(() => {
      if (ending === undefined) return this.#apply(stretches);
      return ending(stretches);
    });
    const { hasMoved, ending: reached } = this.#note(outcome);
    if (!hasMoved && reached === undefined) await this.#wait();
    return reached;
  }

  /** A catch-up call without an ending. */
  #apply(stretches: readonly Stretch[]): Promise<CatchUpOutcome<never>> {
    const { generations, lease, queue } = this.parts;
    return generations.catchUp(lease, queue.shadow, stretches);
  }

  /**
   * Notes an outcome. Returns the ending's result, and whether any offset has moved.
   * @throws the error for a refused call
   */
  #note<E>(outcome: CatchUpOutcome<E>): { hasMoved: boolean; ending?: E | undefined } {
    const { lease, queue, feed, stalls } = this.parts;
    if (outcome.status !== 'applied') throw callRefusal(lease.board, outcome.status);

    const hasMoved = queue.note(outcome.appliedOffsets);
    feed.roomMade();
    if (hasMoved) stalls.moved();
    return { hasMoved, ending: outcome.ending };
  }

  /** Waits for more of the log, then reads the live applied offsets, and adds new partitions. */
  async #wait(): Promise<void> {
    const { generations, lease, queue, feed, stalls } = this.parts;
    await feed.news(LOOK_EVERY_MS);
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return;

    const live = await this.retry(() => generations.liveAppliedOffsets(lease.board));
    this.#lookedAt = performance.now();
    if (queue.noteLive(live)) stalls.moved();
    feed.cover(live.keys());
    await stalls.check(queue.behindLive());
  }

  /** Removes expired views, at most every SWEEP_EVERY_MS. */
  async #sweep(): Promise<void> {
    const { store, queue, signal } = this.parts;
    if (performance.now() - this.#sweptAt < SWEEP_EVERY_MS) return;

    let removed: number;
    do {
      removed = await this.retry(() => store.sweep(queue.shadow));
      if (removed > 0) signal.throwIfAborted();
    } while (removed > 0);
    this.#sweptAt = performance.now();
  }

  /**
   * Retries a failed call. Every call may be repeated, even if only the answer was lost. `first` is
   * the first try, if it has begun already.
   */
  retry<T>(call: () => Promise<T>, first?: Promise<T>): Promise<T> {
    return withRetries(call, this.parts, first);
  }
}
