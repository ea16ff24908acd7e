import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { toError } from '#errors';
import { Backoff } from '#kafka-batch';

/** Receives one result. It has handled the result when it returns, or when its promise resolves. */
export type Handle<T> = (result: T) => Promise<void> | void;

/** What to do when a handler throws. Each failed attempt is logged, whatever the policy. */
export interface HandlerErrors {
  /**
   * - `retry` (the default): call the handler again until it succeeds. No result is lost. Later
   *   results of the same partition wait meanwhile; other partitions continue.
   * - `skip`: after `retries` failed retries, continue with the next result. Also skips, and logs,
   *   records that are not results, which end the subscription otherwise. Calls `onSkipped` for
   *   each.
   * - `stop`: after `retries` failed retries, end the subscription; `failed` rejects with the error
   *   of the handler.
   */
  readonly policy?: 'retry' | 'skip' | 'stop';
  /**
   * Retries of a result before `skip` or `stop`; 5 by default. `retry` has no limit and ignores it.
   */
  readonly retries?: number;
  /**
   * The pause before the first retry, in ms; 200 by default. Pauses double, each is shortened by up
   * to a half at random.
   */
  readonly initialDelayMs?: number;
  /** The longest pause, in ms; 30,000 by default. */
  readonly maxDelayMs?: number;
  /**
   * With the policy `skip`: called for each skipped result before its offset is committed, for
   * example to store it. If it throws, the subscription ends with its error.
   */
  readonly onSkipped?: (skipped: SkippedResult) => Promise<void> | void;
}

/** A result that the policy `skip` skips, and its place in its topic. */
export interface SkippedResult {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /**
   * A RankChange, LeaderChange, PeriodResult or DeadLetterRecord; undefined if the record can't be
   * decoded.
   */
  readonly result?: unknown;
  /** The error of the handler, or an UnreadableResultError. */
  readonly error: Error;
}

/** The facts of a result that logs name, such as its offset and its player. */
export type ResultFacts = Readonly<Record<string, string | number>>;

/**
 * How a call has ended: the signal was aborted before the result was handled, or the error that
 * `skip` skips.
 */
export type HandlerOutcome = 'handled' | 'aborted' | Error;

export class HandlerRetries {
  readonly #errors: Required<Omit<HandlerErrors, 'onSkipped'>>;

  /** @throws RangeError if the policy is unknown, or a number is negative or NaN */
  constructor(
    private readonly logger: ReturnType<Kafka['logger']>,
    errors: HandlerErrors = {},
  ) {
    const { policy = 'retry', retries = 5, initialDelayMs = 200, maxDelayMs = 30_000 } = errors;
    if (errors.onSkipped !== undefined && policy !== 'skip')
      throw new RangeError(`errors.onSkipped needs the policy skip; the policy is ${policy}`);
    if (!POLICIES.includes(policy))
      throw new RangeError(`errors.policy is ${policy}; it must be one of ${POLICIES.join(', ')}`);
    for (const [name, value] of Object.entries({ retries, initialDelayMs, maxDelayMs }))
      if (!(value >= 0)) throw new RangeError(`errors.${name} is ${value}; it must be 0 or more`);
    this.#errors = { policy, retries, initialDelayMs, maxDelayMs };
  }

  /** @throws the handler's error (`stop`) */
  async call(
    handle: () => Promise<void> | void,
    facts: ResultFacts,
    signal: AbortSignal,
  ): Promise<HandlerOutcome> {
    const { policy, retries, initialDelayMs, maxDelayMs } = this.#errors;
    const backoff = new Backoff({ firstMs: initialDelayMs, maxMs: maxDelayMs });
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await handle();
        return 'handled';
      } catch (error) {
        const isLast = policy !== 'retry' && attempt > retries;
        const pauseMs = Math.round(backoff.next());
        const next = isLast ? NEXT[policy] : `retrying in ${pauseMs} ms`;
        this.#log(toError(error), { ...facts, attempt }, next);
        if (isLast && policy === 'stop') throw error;
        if (isLast) return toError(error);
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return 'aborted';
  }

  #log({ message, stack }: Error, facts: ResultFacts, next: string): void {
    const where = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
    this.logger.error(`a handler failed (${where.join(', ')}), ${next}: ${message}`, {
      ...facts,
      error: message,
      stack,
    });
  }
}

const POLICIES = ['retry', 'skip', 'stop'];
const NEXT = { skip: 'skipping the result', stop: 'ending the subscription' };
