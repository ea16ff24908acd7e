import {
  causeId,
  type DeadLetter,
  type RankChange,
  type ScoreEvent,
  type Source,
} from '#contracts';
import { toError } from '#errors';
import { ResultUnknownError } from './client-errors.js';

/** The outcome of a score event. */
export type SendOutcome =
  /** `after` is null in views that the player has left: see RankMovement. */
  | { readonly status: 'ranked'; readonly change: RankChange }
  | { readonly status: 'deadLetter'; readonly letter: DeadLetter }
  /**
   * The event has neither a rank change nor a dead letter. `unchanged`: its board publishes every
   * rank change, so the event changed no view. `unpublished`: its board does not publish every one
   * (`publish` in the definition), or is not live, so the event may have changed a view.
   *
   * `places` are the player's places in the event's views, read after the event was applied: they
   * may include later events. Missing without a `reader`, and if it did not answer in time. A
   * banned or erased player has no published place: each of the `places` has `standing: null`.
   */
  | { readonly status: 'unchanged' | 'unpublished'; readonly places?: readonly ViewPlace[] };

/** The place of a player in one view, as a BoardReader reads it. */
export interface ViewPlace {
  readonly board: string;
  readonly view: string;
  /** True while the board may lack events, after a loss of Redis. */
  readonly stale: boolean;
  readonly size: number;
  readonly playerId: string;
  /** null for a player who is not in the view. */
  readonly standing: {
    readonly rank: number;
    readonly competitionRank: number;
    readonly columns: Readonly<Record<string, string>>;
    readonly reachedAt: string;
  } | null;
}

/** A BoardReader. */
export interface PlaceReader {
  placesOfEvent(event: ScoreEvent, time: number): Promise<readonly ViewPlace[]>;
  /** The live definition. It is in Redis a moment before its record is in the definitions topic. */
  board(board: string): Promise<{ readonly definition: { readonly publish: PublishFields } }>;
}

/**
 * The fields of `publish` that restrict which rank changes are published. A stored definition lacks
 * the fields that have their defaults.
 */
export interface PublishFields {
  readonly rankChanges?: string;
  readonly windows?: readonly string[];
  readonly dimensions?: readonly (readonly string[])[];
}

/** Whether a board publishes every rank change. */
export function publishesAll({
  rankChanges = 'every',
  windows,
  dimensions,
}: PublishFields): boolean {
  return rankChanges === 'every' && windows === undefined && dimensions === undefined;
}

/** The wait for the outcome of one score event; it begins before the event is sent. */
export class ResultWait {
  readonly outcome: Promise<SendOutcome>;
  /** Where Kafka put the event; undefined until Kafka has acknowledged it. */
  at: Source | undefined;
  /** Results of the player that came before the offset was known, by the ids of their causes. */
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
