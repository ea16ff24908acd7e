import type { MessageEvent } from '@nestjs/common';
import { exhaustMap, map, Subject, takeUntil, takeWhile, timer, type Observable } from 'rxjs';
import type { ReconciliationStatus } from '#board-store';
import { formatTime } from '#contracts';
import { NoReconciliationError, StoreAwayError } from './api-error.js';

/** Who knows the running and the last reconciliation of each board. */
export interface StatusSource {
  statuses(): Promise<readonly ReconciliationStatus[]>;
}

/** A reconciliation as the API tells it. Times are RFC 3339. */
export interface ReconciliationJson extends Omit<
  ReconciliationStatus,
  'startedAt' | 'updatedAt' | 'outcome'
> {
  /** At the present rate; null where it is not known, or there is nothing left to wait for. */
  readonly secondsLeft: number | null;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly outcome: string | null;
}

const EVENT_EVERY_MS = 1_000;

/** Reconciliations as any process knows them: they are kept in Redis by the one who does the work. */
export class Reconciliations {
  readonly #stopped = new Subject<void>();

  constructor(
    private readonly source: StatusSource,
    private readonly everyMs = EVENT_EVERY_MS,
  ) {}

  /** The running or last one of each board, by its name. @throws StoreAwayError */
  async all(): Promise<ReconciliationJson[]> {
    const statuses = await this.#statuses();
    return statuses.map(reconciliationJson).sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** @throws NoReconciliationError, StoreAwayError */
  async of(board: string): Promise<ReconciliationJson> {
    const all = await this.all();
    const found = all.find((one) => one.board === board);
    if (found !== undefined) return found;
    throw new NoReconciliationError(
      board,
      all.map((one) => one.board),
    );
  }

  /**
   * `progress` each second while the reconciliation runs, then `end`, each with a ReconciliationJson; `problem` with an
   * ErrorBody where it can't be read now. Ends after `end`, when nothing is known of it any more, and with `stop`.
   */
  events(board: string): Observable<MessageEvent> {
    return timer(0, this.everyMs).pipe(
      exhaustMap(() => this.#event(board)), // a Redis that is slow skips beats
      takeWhile(({ isLast }) => !isLast, true),
      map(({ message }) => message),
      takeUntil(this.#stopped),
    );
  }

  /** Ends all streams of events. */
  stop(): void {
    this.#stopped.next();
  }

  async #event(board: string): Promise<{ message: MessageEvent; isLast: boolean }> {
    try {
      const data = await this.of(board);
      const isLast = data.state !== 'running';
      return { message: { type: isLast ? 'end' : 'progress', data }, isLast };
    } catch (error) {
      if (!(error instanceof NoReconciliationError || error instanceof StoreAwayError)) throw error;
      const isLast = error instanceof NoReconciliationError;
      return { message: { type: 'problem', data: error.getResponse() }, isLast };
    }
  }

  async #statuses(): Promise<readonly ReconciliationStatus[]> {
    try {
      return await this.source.statuses();
    } catch (error) {
      throw new StoreAwayError(error);
    }
  }
}

/** A reconciliation in the words of the API. */
export function reconciliationJson(status: ReconciliationStatus): ReconciliationJson {
  const { startedAt, updatedAt, outcome, ...same } = status;
  return {
    ...same,
    secondsLeft: secondsLeft(status),
    startedAt: formatTime(startedAt),
    updatedAt: formatTime(updatedAt),
    outcome: outcome ?? null,
  };
}

function secondsLeft({ state, done, total, rate }: ReconciliationStatus): number | null {
  if (state !== 'running' || rate <= 0) return null;
  return Math.ceil(Math.max(0, total - done) / rate);
}
