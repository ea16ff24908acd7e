import { byBoard } from '../layout/boards.js';
import type { Lease, ReconciliationStatus } from '../layout/generation-types.js';
import { heldLease, holderOf, LEASE_MS, releaseLease, takeLease } from '../layout/leases.js';
import { ShardedStore } from '../layout/sharded-store.js';
import { LeaseLostError } from '../layout/store-errors.js';
import { refusalOf } from '../lua/scripts.js';

/**
 * The outcome of a verify or rollback whose process died. A sweep discards the shadow of the
 * verify; the shadow of the rollback becomes previous again.
 */
const ENDED = 'its process is gone';

/** The outcome of a build or snapshot whose process died. */
const KEPT =
  `${ENDED}; what was built is kept, and the next attempt continues it; "ranklog boards ` +
  'discard", or another build, verify, snapshot or rollback of the board, discards it';

export class LeaseStore extends ShardedStore {
  /**
   * Takes the lease of a board. Processes that want it meanwhile get `holder` in their error.
   * @throws LeaseHeldError
   */
  async acquire(board: string, holder: string): Promise<Lease> {
    const key = this.#key(board);
    const token = await takeLease(this.redis, { key, holder });
    if (token !== undefined) return { board, token };

    const { token: otherToken, error } = await heldLease(this.redis, key, board);
    if (otherToken !== null) throw error;

    // The other lease ended between the two requests.
    return this.acquire(board, holder);
  }

  /**
   * Extends a lease to LEASE_MS from now, and stores the status of its reconciliation, if given.
   * @throws LeaseLostError
   */
  async renew({ board, token }: Lease, status?: ReconciliationStatus): Promise<void> {
    const shard = this.shardOf(board);
    const text = status === undefined ? '' : JSON.stringify(status);
    const reply = await this.redis.ranklogRenewLease({
      lease: this.#key(board),
      reconciliations: this.keys.reconciliations(shard),
      token,
      ms: LEASE_MS,
      board,
      status: text,
    });
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);
  }

  /** Does nothing if the lease was lost. */
  async release({ board, token }: Lease): Promise<void> {
    await releaseLease(this.redis, this.#key(board), token);
  }

  /**
   * The running or last reconciliation of each board, sorted by name.
   * Cost: one request per shard, and one per running status.
   */
  async statuses(): Promise<ReconciliationStatus[]> {
    const texts = await this.perShard((shard) =>
      this.redis.hvals(this.keys.reconciliations(shard)),
    );
    const statuses = texts.flat().map((text) => JSON.parse(text) as ReconciliationStatus);
    const checked = await Promise.all(statuses.map((status) => this.#checked(status)));
    return checked.sort(byBoard);
  }

  async deleteStatus(board: string): Promise<void> {
    await this.redis.hdel(this.keys.reconciliations(this.shardOf(board)), board);
  }

  /** A running status becomes `failed` if its holder no longer has the lease. */
  async #checked(status: ReconciliationStatus): Promise<ReconciliationStatus> {
    if (status.state !== 'running') return status;

    const token = await this.redis.get(this.#key(status.board));
    const isHeld = token !== null && holderOf(token) === status.holder;
    if (isHeld) return status;

    const isKept = status.kind === 'build' || status.kind === 'snapshot';
    return { ...status, state: 'failed', outcome: isKept ? KEPT : ENDED };
  }

  #key(board: string): string {
    return this.keys.lease(this.shardOf(board), board);
  }
}
