import {
  Controller,
  Get,
  Param,
  Sse,
  type BeforeApplicationShutdown,
  type MessageEvent,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { exhaustMap, map, Subject, takeUntil, takeWhile, timer, type Observable } from 'rxjs';
import { LeaseStore } from '#board-store';
import { toError } from '#errors';
import { ProblemError } from '#problems';
import {
  reconciliationJson,
  type ReconciliationJson,
} from '../../reconciliation/runs/reconciliation-json.js';
import { problemOf } from '../http/problems.js';
import { RequireScope } from '../http/route.js';

/** The running or last reconciliation of each board. All processes record theirs in Redis. */
@ApiExcludeController()
@Controller('reconciliations')
export class ReconciliationsController implements BeforeApplicationShutdown {
  readonly #stopped = new Subject<void>();
  protected readonly eventEveryMs: number = 1_000;

  constructor(private readonly leases: LeaseStore) {}

  /** All recorded reconciliations, sorted by board. */
  @RequireScope('operate')
  @Get()
  async all(): Promise<ReconciliationJson[]> {
    const statuses = await this.leases.statuses();
    return statuses.map(reconciliationJson).sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** @throws ProblemError NO_RECONCILIATION */
  @RequireScope('operate')
  @Get(':board')
  async one(@Param('board') board: string): Promise<ReconciliationJson> {
    const all = await this.all();
    const found = all.find((reconciliation) => reconciliation.board === board);
    if (found !== undefined) return found;

    const known = all.map((reconciliation) => reconciliation.board);
    const others = known.length === 0 ? 'nor of any other' : `those of ${known.join(', ')} are`;
    throw new ProblemError(
      'NO_RECONCILIATION',
      `no reconciliation of board "${board}" is running or recorded; ${others}`,
      { asked: board, known },
    );
  }

  /**
   * The stream of a reconciliation. Emits:
   * - `progress` with a ReconciliationJson, each second while the reconciliation runs;
   * - `end` with the last ReconciliationJson, then the stream ends;
   * - `problem` with a Problem, while Redis does not answer. It is the last event if Redis has no
   *   reconciliation of the board any more.
   *
   * A shutdown ends the stream, too.
   * @throws ProblemError NO_RECONCILIATION before the stream begins
   */
  @RequireScope('operate')
  @Sse(':board/events')
  async events(@Param('board') board: string): Promise<Observable<MessageEvent>> {
    await this.one(board);
    return timer(0, this.eventEveryMs).pipe(
      exhaustMap(() => this.#event(board)), // skips ticks while Redis is slow
      takeWhile(({ isLast }) => !isLast, true), // true: emits the last event, too
      map(({ message }) => message),
      takeUntil(this.#stopped),
    );
  }

  /** Ends all streams: the HTTP server can't close while one is open. */
  beforeApplicationShutdown(): void {
    this.#stopped.next();
  }

  async #event(board: string): Promise<{ message: MessageEvent; isLast: boolean }> {
    try {
      const data = await this.one(board);
      const isLast = data.state !== 'running';
      return { message: { type: isLast ? 'end' : 'progress', data }, isLast };
    } catch (error) {
      const url = `/reconciliations/${board}`;
      const problem = problemOf(toError(error), { method: 'GET', url });
      if (problem.code === 'INTERNAL_SERVER_ERROR') throw error;
      const isLast = problem.code === 'NO_RECONCILIATION';
      return { message: { type: 'problem', data: problem }, isLast };
    }
  }
}
