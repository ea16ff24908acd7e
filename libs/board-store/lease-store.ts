import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import { LeaseHeldError, LeaseLostError } from './errors.js';
import type { Lease, ReconciliationStatus } from './generation-types.js';
import { ShardedStore } from './sharded-store.js';

/** How long a lease is held without being renewed, in ms: so long others wait for one who was killed. */
export const LEASE_MS = 15_000;

/** The holder of the leases that this process takes. */
export const HOLDER = `${hostname()}:${process.pid}`;

/** What is said of a run whose process is gone: what the sweep lets go of is not kept. */
const GONE = 'its process is gone';
const KEPT = `${GONE}; what was built is kept, and goes on when it is asked for again; "ranklog boards discard", or another command for the board, gives it up`;

/** Leases of boards, and what their holders tell of their work. */
export class LeaseStore extends ShardedStore {
  /** `holder` is told to others who want the lease. @throws LeaseHeldError */
  async acquire(board: string, holder: string): Promise<Lease> {
    const key = this.#key(board);
    const token = await takeLease(this.redis, { key, holder });
    if (token !== undefined) return { board, token };
    const { held, error } = await heldLease(this.redis, key, board);
    if (held === null) return this.acquire(board, holder); // it ended between the two
    throw error;
  }

  /** Holds on to a lease for LEASE_MS from now on. @throws LeaseLostError */
  async renew(lease: Lease): Promise<void> {
    await this.#renew(lease, '');
  }

  /** Renews a lease, and stores how far its work is. @throws LeaseLostError */
  async tell(lease: Lease, status: ReconciliationStatus): Promise<void> {
    await this.#renew(lease, JSON.stringify(status));
  }

  /** Gives a lease back; nothing happens to one that was lost. */
  async release({ board, token }: Lease): Promise<void> {
    await this.redis.ranklogReleaseLease(1, this.#key(board), token);
  }

  /** The running or last reconciliation of each board, by name. Cost: a request a shard, and one for each that runs. */
  async statuses(): Promise<ReconciliationStatus[]> {
    const texts = await Promise.all(
      this.allShards.map((shard) => this.redis.hvals(this.keys.reconciliations(shard))),
    );
    const statuses = texts.flat().map((text) => JSON.parse(text) as ReconciliationStatus);
    const checked = await Promise.all(statuses.map((status) => this.#checked(status)));
    return checked.sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** Of a board that is no more, nothing is told. */
  async forget(board: string): Promise<void> {
    await this.redis.hdel(this.keys.reconciliations(this.shardOf(board)), board);
  }

  async #checked(status: ReconciliationStatus): Promise<ReconciliationStatus> {
    if (status.state !== 'running') return status;
    const held = await this.redis.get(this.#key(status.board));
    if (held !== null && holderOf(held) === status.holder) return status;
    const outcome = status.kind === 'build' || status.kind === 'snapshot' ? KEPT : GONE;
    return { ...status, state: 'failed', outcome };
  }

  async #renew({ board, token }: Lease, status: string): Promise<void> {
    const shard = this.shardOf(board);
    const reply = await this.redis.ranklogRenewLease(
      2,
      this.keys.lease(shard, board),
      this.keys.reconciliations(shard),
      token,
      LEASE_MS,
      board,
      status,
    );
    if (reply !== 1) throw new LeaseLostError(board);
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
  return (await redis.get(key)) === token ? token : undefined; // ours if the first reply was lost and the request ran twice
}

/** The token of a lease, and the refusal of those who want it, too. */
export async function heldLease(
  redis: Redis,
  key: string,
  board: string,
): Promise<{ held: string | null; error: LeaseHeldError }> {
  const [held, msLeft] = await Promise.all([redis.get(key), redis.pttl(key)]);
  const holder = holderOf(held ?? '');
  return {
    held,
    error: new LeaseHeldError(board, { holder, msLeft: Math.max(0, msLeft) }),
  };
}

/** A token is an id, a space, and who holds it. */
function holderOf(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}
