import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import { LeaseHeldError, LeaseLostError } from './errors.js';
import type { Lease, ReconciliationStatus } from './generation-types.js';
import { refusalOf } from './scripts.js';
import { ShardedStore } from './sharded-store.js';

/** How long a lease lasts without renewal, in ms: the longest that other processes wait after its holder dies. */
export const LEASE_MS = 15_000;

export const HOLDER = `${hostname()}:${process.pid}`;

/** The outcome of a verify or rollback whose process died. A sweep discards the shadow, or makes it previous again (rollback). */
const ENDED = 'its process is gone';
const KEPT = `${ENDED}; what was built is kept, and the next attempt continues it; "ranklog boards discard", or another build, verify, snapshot or rollback of the board, discards it`;

export class LeaseStore extends ShardedStore {
  /** `holder` is shown to processes that want the lease while it is held. @throws LeaseHeldError */
  async acquire(board: string, holder: string): Promise<Lease> {
    const key = this.#key(board);
    const token = await takeLease(this.redis, { key, holder });
    if (token !== undefined) return { board, token };
    const { held, error } = await heldLease(this.redis, key, board);
    if (held === null) return this.acquire(board, holder); // the lease ended between the two requests
    throw error;
  }

  /** Extends a lease to LEASE_MS from now, and stores the status of its reconciliation, if given. @throws LeaseLostError */
  async renew({ board, token }: Lease, status?: ReconciliationStatus): Promise<void> {
    const shard = this.shardOf(board);
    const text = status === undefined ? '' : JSON.stringify(status);
    const all = [this.#key(board), this.keys.reconciliations(shard)];
    const reply = await this.redis.ranklogRenewLease(2, ...all, token, LEASE_MS, board, text);
    if (refusalOf(reply) !== undefined) throw new LeaseLostError(board);
  }

  /** Does nothing if the lease was lost. */
  async release({ board, token }: Lease): Promise<void> {
    await releaseLease(this.redis, this.#key(board), token);
  }

  /** The running or last reconciliation of each board, sorted by name. Cost: one request per shard, and one per running status. */
  async statuses(): Promise<ReconciliationStatus[]> {
    const texts = await this.perShard((shard) =>
      this.redis.hvals(this.keys.reconciliations(shard)),
    );
    const statuses = texts.flat().map((text) => JSON.parse(text) as ReconciliationStatus);
    const checked = await Promise.all(statuses.map((status) => this.#checked(status)));
    return checked.sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  async deleteStatus(board: string): Promise<void> {
    await this.redis.hdel(this.keys.reconciliations(this.shardOf(board)), board);
  }

  async #checked(status: ReconciliationStatus): Promise<ReconciliationStatus> {
    if (status.state !== 'running') return status;
    const held = await this.redis.get(this.#key(status.board));
    if (held !== null && holderOf(held) === status.holder) return status;
    const isKept = status.kind === 'build' || status.kind === 'snapshot';
    return { ...status, state: 'failed', outcome: isKept ? KEPT : ENDED };
  }

  #key(board: string): string {
    return this.keys.lease(this.shardOf(board), board);
  }
}

/** Takes a lease and returns its token; undefined while another holder has it. */
export async function takeLease(
  redis: Redis,
  { key, ms = LEASE_MS, holder = HOLDER }: { key: string; ms?: number; holder?: string },
): Promise<string | undefined> {
  const token = `${randomUUID()} ${holder}`;
  if ((await redis.set(key, token, 'PX', ms, 'NX')) !== null) return token;
  return (await redis.get(key)) === token ? token : undefined; // our token: the first reply was lost, and the request ran twice
}

export async function releaseLease(redis: Redis, key: string, token: string): Promise<void> {
  await redis.ranklogRenewLease(2, key, key, token, 0, '', '');
}

/** The token of a lease, and the error for processes that want it meanwhile. */
export async function heldLease(redis: Redis, key: string, board: string) {
  const [held, msLeft] = await Promise.all([redis.get(key), redis.pttl(key)]);
  const holder = holderOf(held ?? '');
  return { held, error: new LeaseHeldError(board, holder, Math.max(0, msLeft)) };
}

/** A token is an id, a space, and its holder. */
function holderOf(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}
