import type { MessageEvent } from '@nestjs/common';
import { exhaustMap, map, Subject, takeUntil, takeWhile, timer, type Observable } from 'rxjs';
import type { ReconciliationStatus } from '#board-store';
import { NoReconciliationError, StoreUnavailableError } from '../infra/api-error.js';
import { reconciliationJson, type ReconciliationJson } from './reconciliation-json.js';

/** Who knows the running and the last reconciliation of each board. */
export interface StatusSource {
  statuses(): Promise<readonly ReconciliationStatus[]>;
}

const EVENT_EVERY_MS = 1_000;

/** Reconciliations as any process knows them: they are kept in Redis by the one who does the work. */
export class Reconciliations {
  readonly #stopped = new Subject<void>();

  constructor(
    private readonly source: StatusSource,
    private readonly everyMs = EVENT_EVERY_MS,
  ) {}

  /** The running or last one of each board, by its name. @throws StoreUnavailableError */
  async all(): Promise<ReconciliationJson[]> {
    const statuses = await this.#statuses();
    return statuses.map(reconciliationJson).sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** @throws NoReconciliationError, StoreUnavailableError */
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
      if (!(error instanceof NoReconciliationError || error instanceof StoreUnavailableError))
        throw error;
      const isLast = error instanceof NoReconciliationError;
      return { message: { type: 'problem', data: error.getResponse() }, isLast };
    }
  }

  async #statuses(): Promise<readonly ReconciliationStatus[]> {
    try {
      return await this.source.statuses();
    } catch (error) {
      throw new StoreUnavailableError(error);
    }
  }
}
