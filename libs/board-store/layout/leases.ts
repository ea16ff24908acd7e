import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { LeaseHeldError } from './store-errors.js';
import type { RedisClient } from './redis-client.js';

/**
 * How long a lease lasts without renewal, in ms: the longest that other processes wait after its
 * holder dies.
 */
export const LEASE_MS = 15_000;

export const HOLDER = `${hostname()}:${process.pid}`;

/** Takes a lease and returns its token; undefined while another holder has it. */
export async function takeLease(
  redis: RedisClient,
  { key, ms = LEASE_MS, holder = HOLDER }: { key: string; ms?: number; holder?: string },
): Promise<string | undefined> {
  const token = `${randomUUID()} ${holder}`;
  if ((await redis.set(key, token, 'PX', ms, 'NX')) !== null) return token;
  // Our token: the first reply was lost, and the request ran twice
  return (await redis.get(key)) === token ? token : undefined;
}

export async function releaseLease(redis: RedisClient, key: string, token: string): Promise<void> {
  await renewLease(redis, key, token, 0);
}

/** Extends a lease to `ms` from now, without a status; 0 ends it. Does nothing if it was lost. */
export async function renewLease(
  redis: RedisClient,
  key: string,
  token: string,
  ms: number,
): Promise<void> {
  const noStatus = { reconciliations: key, board: '', status: '' };
  await redis.ranklogRenewLease({ lease: key, token, ms, ...noStatus });
}

/** The token of a lease, and the error for processes that want it meanwhile. */
export async function heldLease(redis: RedisClient, key: string, board: string) {
  const [held, msLeft] = await Promise.all([redis.get(key), redis.pttl(key)]);
  const holder = holderOf(held ?? '');
  return { held, error: new LeaseHeldError(board, holder, Math.max(0, msLeft)) };
}

/** A token is an id, a space, and its holder. */
export function holderOf(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}
