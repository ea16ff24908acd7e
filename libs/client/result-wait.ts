import {
  causeId,
  type DeadLetter,
  type RankChange,
  type ScoreEvent,
  type Source,
} from '#contracts';
import { toError } from '#kafka-batch';
import { ResultUnknownError } from './errors.js';

/** What ranklog made of a score event. */
export type SendOutcome =
  | { readonly status: 'ranked'; readonly change: RankChange }
  | { readonly status: 'deadLetter'; readonly letter: DeadLetter }
  /**
   * The event has neither. `unchanged`: its board publishes every rank change, so the event changed no view. `unpublished`: its
   * board does not (`publish` in the definition), or is not live, so it is unknown whether the event changed anything.
   */
  | { readonly status: 'unchanged' | 'unpublished' };

/** The wait for the outcome of one score event; it begins before the event is sent. */
export class ResultWait {
  readonly outcome: Promise<SendOutcome>;
  /** Where Kafka put the event; undefined until Kafka has acknowledged it. */
  at: Source | undefined;
  /** Results of the player that were read before the offset was known, by the ids of their causes. */
  readonly #early = new Map<string, () => SendOutcome>();
  #resolve: (outcome: SendOutcome) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly topic: string,
    readonly event: ScoreEvent,
  ) {
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.outcome.catch(() => undefined); // if sending fails first, sendAndWait throws that error
  }

  acknowledged(at: Source): void {
    this.at = at;
    const read = this.#early.get(causeId(at));
    if (read !== undefined) this.settle(read);
  }

  /** Takes the result of any event of the player. `cause` is the id of that event. */
  take(cause: string, read: () => SendOutcome): void {
    if (this.at === undefined) this.#early.set(cause, read);
    else if (causeId(this.at) === cause) this.settle(read);
  }

  /** Ends the wait with the outcome; fails it if `read` throws. */
  settle(read: () => SendOutcome): void {
    try {
      this.#resolve(read());
    } catch (error) {
      this.fail(`its result can't be read: ${toError(error).message}`, error);
    }
  }

  fail(reason: string, cause?: unknown): void {
    const { at, topic, event } = this;
    this.#reject(new ResultUnknownError(at ?? { topic }, event, reason, { cause }));
  }
}
