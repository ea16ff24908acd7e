import { LeaseLostError } from './errors.js';
import type { Lease } from './generation-types.js';
import { keptOffset } from './kept-texts.js';
import { pairsOf } from './rows.js';
import { ShardedStore } from './sharded-store.js';

/** What a shard keeps of one partition: its watermark, and the last applied record, which vouches for it. As Redis has them. */
export interface KeptWatermark {
  readonly partition: number;
  /** Missing for none. */
  readonly watermark?: string;
  /** Offset, timestamp and hash; missing for none. */
  readonly record?: string;
  /** The first offset whose results are not published. */
  readonly published: number;
  /** Whether what is published is applied once more: see HealTarget. */
  readonly isHealing: boolean;
}

/** The watermarks of shards, and what vouches for them: both are written in one step, so that one that was moved is known. */
export class WatermarkStore extends ShardedStore {
  /** Of the shard of a board, by one moment. Cost: linear in the partitions. */
  async kept(board: string): Promise<KeptWatermark[]> {
    const shard = this.shardOf(board);
    const { keys } = this;
    const replies = await this.redis.ranklogKeptWatermarks(
      4,
      keys.watermarks(shard),
      keys.records(shard),
      keys.published(shard),
      keys.healing(shard),
    );
    const [watermarks = {}, records = {}, published = {}, healing = {}] = replies.map(
      (reply): Partial<Record<string, string>> => Object.fromEntries(pairsOf(reply)),
    );
    const partitions = new Set([...Object.keys(watermarks), ...Object.keys(records)]);
    return [...partitions].map((partition) => {
      const [watermark, record] = [watermarks[partition], records[partition]];
      return {
        partition: Number(partition),
        ...(watermark === undefined ? {} : { watermark }),
        ...(record === undefined ? {} : { record }),
        published: Math.max(0, keptOffset(published[partition])),
        isHealing: healing[partition] !== undefined,
      };
    });
  }

  /**
   * Sets watermarks of the shard back to what was applied last, those of them that are as they were seen; answers what they
   * are now. `lastOffset` is that of the record; missing for none. Live ingest notices, and goes on from there.
   * @throws LeaseLostError
   */
  async mend(
    lease: Lease,
    seen: readonly (KeptWatermark & { readonly lastOffset?: number })[],
  ): Promise<number[]> {
    const { keys } = this;
    const shard = this.shardOf(lease.board);
    const allKeys = [
      keys.lease(shard, lease.board),
      keys.watermarks(shard),
      keys.records(shard),
      keys.published(shard),
      keys.shadows(shard),
      keys.previous(shard),
      keys.discarded(shard),
      keys.continuity(shard),
      keys.healing(shard),
      ...seen.map(({ partition }) => keys.outbox(shard, partition)),
    ];
    const reply = await this.redis.ranklogMendWatermarks(
      allKeys.length,
      ...allKeys,
      lease.token,
      ...seen.flatMap(({ partition, watermark = '', record = '', lastOffset = -1 }) => [
        ...[partition, watermark, record, lastOffset],
      ]),
    );
    if (!Array.isArray(reply)) throw new LeaseLostError(lease.board);
    return reply.map(Number);
  }
}
