import {
  HOLDER,
  LEASE_MS,
  LeaseLostError,
  type Lease,
  type LeaseStore,
  type ReconciliationStatus,
} from '#board-store';
import { toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';

/** Well below LEASE_MS. */
const RENEW_EVERY_MS = 4_000;
const TELL_EVERY_MS = 1_000;

type Kind = ReconciliationStatus['kind'];
type Facts = Pick<ReconciliationStatus, 'generation' | 'done' | 'total' | 'rate' | 'secondsLeft'>;
type EndState = Exclude<ReconciliationStatus['state'], 'running'>;

/** A board that a run works on, and what is told of it. */
interface KeptBoard {
  readonly lease: Lease;
  status: ReconciliationStatus;
  /** When it was last seen that the lease is ours, by performance.now. */
  heldAt: number;
}

interface KeeperParts {
  readonly leases: LeaseStore;
  readonly kind: Kind;
  readonly logger: Logger;
}

/**
 * The leases of the boards of one run: renewed while it goes on, and with them what is told of it.
 *
 * States: keeping (made by `acquire`), until `close`; a board that has ended is told of no more, and is free.
 */
export class LeaseKeeper {
  readonly #boards = new Map<string, KeptBoard>();
  readonly #lost = new AbortController();
  #timers: NodeJS.Timeout[] = [];

  private constructor(private readonly parts: KeeperParts) {}

  /** All of them or none, in the order of their names: two runs never wait for each other. @throws LeaseHeldError */
  static async acquire(boards: readonly string[], parts: KeeperParts): Promise<LeaseKeeper> {
    const keeper = new LeaseKeeper(parts);
    try {
      for (const board of [...boards].sort()) await keeper.#acquire(board);
    } catch (error) {
      await keeper.close();
      throw error;
    }
    keeper.#start();
    return keeper;
  }

  /** Aborted when a lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  lease(board: string): Lease {
    const kept = this.#boards.get(board);
    if (kept === undefined) throw new LeaseLostError(board);
    return kept.lease;
  }

  /** Whether a lease may have run out, so that somebody else could take it: one that is lost before was lost by Redis. */
  mayHaveRunOut(board: string): boolean {
    const heldAt = this.#boards.get(board)?.heldAt ?? -Infinity;
    return performance.now() - heldAt >= LEASE_MS;
  }

  /** What is told of a board from now on. */
  note(board: string, facts: Partial<Facts>): void {
    const kept = this.#boards.get(board);
    if (kept !== undefined) kept.status = { ...kept.status, ...facts };
  }

  /** Tells how it ended, and lets go of the board. */
  async end(board: string, state: EndState, outcome: string): Promise<void> {
    const kept = this.#boards.get(board);
    if (kept === undefined) return;
    kept.status = { ...kept.status, rate: 0, secondsLeft: null, state, outcome };
    this.#boards.delete(board);
    await this.#tell(kept);
    await this.#release(kept);
  }

  /** Lets go of a board, and tells nothing of it: what is told of it stays. */
  async leave(board: string): Promise<void> {
    const kept = this.#boards.get(board);
    this.#boards.delete(board);
    if (kept !== undefined) await this.#release(kept);
  }

  /** Lets go of all boards that have not ended. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const kept = [...this.#boards.values()];
    this.#boards.clear();
    for (const board of kept) await this.#release(board);
  }

  async #acquire(board: string): Promise<void> {
    const heldAt = performance.now();
    const lease = await this.parts.leases.acquire(board, HOLDER);
    const now = Date.now();
    const status: ReconciliationStatus = {
      ...{ board, kind: this.parts.kind, state: 'running', generation: '', holder: HOLDER },
      ...{ done: 0, total: 0, rate: 0, secondsLeft: null, startedAt: now, updatedAt: now },
    };
    this.#boards.set(board, { lease, status, heldAt });
  }

  #start(): void {
    const each = (work: (kept: KeptBoard) => Promise<void>) => () => {
      for (const kept of this.#boards.values()) void work(kept);
    };
    this.#timers = [
      setInterval(
        each((kept) => this.#renew(kept)),
        RENEW_EVERY_MS,
      ),
      setInterval(
        each((kept) => this.#tell(kept)),
        TELL_EVERY_MS,
      ),
    ];
  }

  async #renew(kept: KeptBoard): Promise<void> {
    const { lease } = kept;
    const now = performance.now();
    try {
      await this.parts.leases.renew(lease);
      kept.heldAt = now;
    } catch (error) {
      const isOurs = this.#boards.has(lease.board);
      if (error instanceof LeaseLostError && isOurs) this.#lost.abort(error);
      else if (isOurs) this.#warn(`the lease of board "${lease.board}" can't be renewed`, error);
    }
  }

  /** What is told does no work: a failure to tell is no failure of the run. */
  async #tell(kept: KeptBoard): Promise<void> {
    kept.status = { ...kept.status, updatedAt: Date.now() };
    try {
      await this.parts.leases.tell(kept.lease, kept.status);
    } catch (error) {
      this.#warn(`the state of board "${kept.lease.board}" can't be told`, error);
    }
  }

  /** One that can't be released runs out by itself. */
  async #release({ lease }: KeptBoard): Promise<void> {
    try {
      await this.parts.leases.release(lease);
    } catch (error) {
      this.#warn(`the lease of board "${lease.board}" can't be released`, error);
    }
  }

  #warn(what: string, error: unknown): void {
    this.parts.logger.warn(`${what}: ${toError(error).message}`);
  }
}
