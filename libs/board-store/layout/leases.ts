import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { LeaseHeldError } from './store-errors.js';
import type { RedisClient } from './redis-client.js';

/** Lease duration in ms: how long other processes wait at most after its holder dies. */
export const LEASE_MS = 15_000;

export const HOLDER = `${hostname()}:${process.pid}`;

/** Takes a lease. Returns its token; undefined while another process holds the lease. */
export async function takeLease(
  redis: RedisClient,
  { key, ms = LEASE_MS, holder = HOLDER }: { key: string; ms?: number; holder?: string },
): Promise<string | undefined> {
  const token = `${randomUUID()} ${holder}`;
  const reply = await redis.set(key, token, 'PX', ms, 'NX');
  if (reply !== null) return token;

  // If Redis has our token, the client lost the first reply and sent the request twice.
  const stored = await redis.get(key);
  return stored === token ? token : undefined;
}

export async function releaseLease(redis: RedisClient, key: string, token: string): Promise<void> {
  await renewLease(redis, key, token, 0);
}

/** Extends a lease to `ms` from now; 0 ends it. Does nothing if it was lost. */
export async function renewLease(
  redis: RedisClient,
  key: string,
  token: string,
  ms: number,
): Promise<void> {
  await redis.ranklogRenewLease({
    lease: key,
    reconciliations: key, // not used: without a status, the script stores none
    token,
    ms,
    board: '',
    status: '',
  });
}

/**
 * Returns the token of a lease (null if nobody holds it), and the error for processes that want it.
 */
export async function heldLease(redis: RedisClient, key: string, board: string) {
  const [token, msLeft] = await Promise.all([redis.get(key), redis.pttl(key)]);
  const holder = holderOf(token ?? '');
  const error = new LeaseHeldError(board, holder, Math.max(0, msLeft));
  return { token, error };
}

/** A token is an id, a space, and its holder. */
export function holderOf(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}
