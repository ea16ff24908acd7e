import { createHash } from 'node:crypto';

/** The shard of a board: the first 4 bytes of its name's SHA-256, modulo the number of shards. */
export function shardOf(board: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash('sha256').update(board).digest().readUInt32BE(0) % shards;
}
