import {
  HOLDER,
  LEASE_MS,
  LeaseLostError,
  type Lease,
  type LeaseStore,
  type ReconciliationStatus,
} from '#board-store';
import { toError } from '#errors';
import type { Logger } from '../../infra/logger.js';
import { RecurringTask } from '../../infra/recurring-task.js';

const RENEW_EVERY_MS = 1_000;

type End = Pick<ReconciliationStatus, 'state' | 'outcome' | 'equal'>;

interface LeasedBoard {
  readonly lease: Lease;
  status: ReconciliationStatus;
  /** When the lease was last acquired or renewed, by performance.now. */
  renewedAt: number;
}

interface RunLeasesParts {
  readonly leases: LeaseStore;
  readonly kind: ReconciliationStatus['kind'];
  readonly logger: Logger;
}

/**
 * The leases of the boards of one attempt, renewed while it runs, and the status of each board in
 * Redis. States of a board: leased, from `acquire` until `end`, `leave` or `close` releases it.
 */
export class RunLeases {
  readonly #boards = new Map<string, LeasedBoard>();
  readonly #lost = new AbortController();
  readonly #renewal = new RecurringTask(() => this.#renewAll(), RENEW_EVERY_MS);

  private constructor(private readonly parts: RunLeasesParts) {}

  /**
   * Acquires all leases or none, in the order of the names, so no two reconciliations block each
   * other.
   * @throws LeaseHeldError
   */
  static async acquire(boards: readonly string[], parts: RunLeasesParts): Promise<RunLeases> {
    const leases = new RunLeases(parts);
    try {
      for (const board of [...boards].sort()) await leases.#acquire(board);
    } catch (error) {
      await leases.close();
      throw error;
    }
    leases.#renewal.start();
    return leases;
  }

  /** Aborted when a lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws LeaseLostError for a board that is not leased */
  lease(board: string): Lease {
    const leased = this.#boards.get(board);
    if (leased === undefined) throw new LeaseLostError(board);
    return leased.lease;
  }

  /**
   * Whether the lease may have expired, so that another process may have taken it. If a lease is
   * lost before it can have expired, Redis has lost data.
   */
  mayHaveExpired(board: string): boolean {
    const renewedAt = this.#boards.get(board)?.renewedAt ?? -Infinity;
    return performance.now() - renewedAt >= LEASE_MS;
  }

  /** Changes the status of a board. The next renewal, within a second, writes it to Redis. */
  note(board: string, facts: Partial<ReconciliationStatus>): void {
    const leased = this.#boards.get(board);
    if (leased !== undefined) leased.status = { ...leased.status, ...facts };
  }

  /**
   * Reports how the reconciliation of a board ended, and releases the board. Does nothing if the
   * board was released before.
   */
  async end(board: string, end: End): Promise<void> {
    const leased = this.#boards.get(board);
    if (leased === undefined) return;

    leased.status = { ...leased.status, rate: 0, secondsLeft: null, ...end };
    this.#boards.delete(board);
    await this.#renew(leased);
    await this.#release(leased);
  }

  /** Releases a board without changing its reported status. */
  async leave(board: string): Promise<void> {
    const leased = this.#boards.get(board);
    this.#boards.delete(board);
    if (leased !== undefined) await this.#release(leased);
  }

  async close(): Promise<void> {
    await this.#renewal.stop();
    for (const board of [...this.#boards.keys()]) await this.leave(board);
  }

  async #acquire(board: string): Promise<void> {
    const renewedAt = performance.now();
    const lease = await this.parts.leases.acquire(board, HOLDER);
    const now = Date.now();
    const status: ReconciliationStatus = {
      board,
      kind: this.parts.kind,
      state: 'running',
      generation: '',
      holder: HOLDER,
      done: 0,
      total: 0,
      rate: 0,
      secondsLeft: null,
      startedAt: now,
      updatedAt: now,
    };
    this.#boards.set(board, { lease, status, renewedAt });
  }

  /**
   * Renews all leases at once. A renewal that hangs delays the next turn, but it fails at the
   * command timeout of the Redis client, long before the other leases expire.
   */
  async #renewAll(): Promise<void> {
    await Promise.all([...this.#boards.values()].map((leased) => this.#renew(leased)));
  }

  /** Renews a lease, and writes the status. Only a lost lease ends the reconciliation. */
  async #renew(leased: LeasedBoard): Promise<void> {
    const { board } = leased.lease;
    const now = performance.now();
    leased.status = { ...leased.status, updatedAt: Date.now() };
    try {
      await this.parts.leases.renew(leased.lease, leased.status);
      leased.renewedAt = now;
    } catch (error) {
      if (error instanceof LeaseLostError && this.#boards.has(board)) this.#lost.abort(error);
      else this.#warn(`could not renew the lease and the status of board "${board}"`, error);
    }
  }

  /** Only logs a failure: a lease that can't be released expires. */
  async #release({ lease }: LeasedBoard): Promise<void> {
    await this.parts.leases.release(lease).catch((error: unknown) => {
      this.#warn(`could not release the lease of board "${lease.board}"`, error);
    });
  }

  #warn(what: string, error: unknown): void {
    this.parts.logger.warn(`${what}: ${toError(error).message}`);
  }
}
