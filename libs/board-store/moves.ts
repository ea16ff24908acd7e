import type { Redis } from 'ioredis';
import type { KeySpace } from './keys.js';

/** What lua/move.lua answers when it moves nothing. */
export const LEASE_LOST = -5;
export const LEASE_HELD = -11;

/** A generation's move from one role to another. lua/move.lua says which are allowed, and what may be left out. */
export interface Move {
  readonly from: 'shadow' | 'previous' | 'snapshot';
  readonly to: 'shadow' | 'snapshot' | 'discarded';
  readonly board?: string;
  readonly generation?: string;
  readonly token?: string;
}

/** Calls lua/move.lua. */
export function moveGeneration(
  redis: Redis,
  keys: KeySpace,
  shard: number,
  { from, to, board = '', generation = '', token = '' }: Move,
): Promise<number> {
  return redis.ranklogMove(5, ...roleKeys(keys, shard, board), token, board, generation, from, to);
}

/** The first keys of each script that moves generations: see lua/roles.lua. */
export function roleKeys(keys: KeySpace, shard: number, board: string): string[] {
  return [
    keys.lease(shard, board),
    keys.shadows(shard),
    keys.previous(shard),
    keys.snapshots(shard),
    keys.discarded(shard),
  ];
}
