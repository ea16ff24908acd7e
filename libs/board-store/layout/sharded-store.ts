import { defineScripts } from '../lua/scripts.js';
import { shardOf, type KeySpace } from './keys.js';
import type { RedisClient } from './redis-client.js';

/** `without` are shards to skip: shards of a cluster that do not answer. */
export interface ShardChoice {
  readonly shards: number;
  readonly without?: readonly number[];
}

export function chosenShards({ shards, without = [] }: ShardChoice): number[] {
  const all = Array.from({ length: shards }, (_, shard) => shard);
  return all.filter((shard) => !without.includes(shard));
}

/** The base of all stores: a client that has the scripts, and the keys, spread over shards. */
export abstract class ShardedStore {
  readonly allShards: readonly number[];

  constructor(
    protected readonly redis: RedisClient,
    protected readonly keys: KeySpace,
    private readonly choice: ShardChoice,
  ) {
    this.allShards = chosenShards(choice);
    defineScripts(redis);
  }

  shardOf(board: string): number {
    return shardOf(board, this.choice.shards);
  }

  protected perShard<T>(read: (shard: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.allShards.map(read));
  }

  /** The time of the server that has a shard, in us. */
  async serverTime(shard: number): Promise<number> {
    const continuity = this.keys.continuity(shard);
    const reply = await this.redis.ranklogReadContinuity({ continuity });
    const us = reply[3];
    return Number(us);
  }
}

/**
 * The fields of the hashes are partitions. Returns the largest number of each partition in any
 * hash.
 */
export function largestOf(
  shards: readonly Readonly<Record<string, string>>[],
): Map<number, number> {
  const largest = new Map<number, number>();
  for (const shard of shards)
    for (const [field, value] of Object.entries(shard)) {
      const partition = Number(field);
      largest.set(partition, Math.max(Number(value), largest.get(partition) ?? 0));
    }
  return largest;
}
