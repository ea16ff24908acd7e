import type { Redis } from 'ioredis';
import { LeaseLostError } from './errors.js';
import type { Lease } from './generation-types.js';
import type { KeySpace } from './keys.js';
import { defineScripts } from './scripts.js';
import { shardOf } from './shard.js';

/** What a shard keeps of one partition: its watermark, and the last applied record, which vouches for it. As Redis has them. */
export interface KeptWatermark {
  readonly partition: number;
  /** Missing for none. */
  readonly watermark?: string;
  /** Offset, timestamp and hash; missing for none. */
  readonly record?: string;
}

/** The watermarks of shards, and what vouches for them: both are written in one step, so that one that was moved is known. */
export class WatermarkStore {
  readonly #shards: number;

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    { shards }: { shards: number },
  ) {
    this.#shards = shards;
    defineScripts(redis);
  }

  /** Of the shard of a board, by one moment. Cost: linear in the partitions. */
  async kept(board: string): Promise<KeptWatermark[]> {
    const shard = shardOf(board, this.#shards);
    const replies = await this.redis
      .multi()
      .hgetall(this.keys.watermarks(shard))
      .hgetall(this.keys.records(shard))
      .exec();
    const [watermarks = {}, records = {}] = (replies ?? []).map(([error, reply]) => {
      if (error !== null) throw error;
      return reply as Record<string, string>;
    });
    const partitions = new Set([...Object.keys(watermarks), ...Object.keys(records)]);
    return [...partitions].map((partition) => {
      const [watermark, record] = [watermarks[partition], records[partition]];
      return {
        partition: Number(partition),
        ...(watermark === undefined ? {} : { watermark }),
        ...(record === undefined ? {} : { record }),
      };
    });
  }

  /**
   * Sets watermarks of the shard back to what was applied last, those of them that are as they were seen; answers what they
   * are now. Live ingest notices, and goes on from there. @throws LeaseLostError
   */
  async mend(lease: Lease, seen: readonly KeptWatermark[]): Promise<number[]> {
    const { keys } = this;
    const shard = shardOf(lease.board, this.#shards);
    const allKeys = [
      keys.lease(shard, lease.board),
      keys.watermarks(shard),
      keys.records(shard),
      keys.published(shard),
      keys.shadows(shard),
      keys.previous(shard),
      keys.discarded(shard),
      keys.continuity(shard),
      ...seen.map(({ partition }) => keys.outbox(shard, partition)),
    ];
    const reply = await this.redis.ranklogMendWatermarks(
      allKeys.length,
      ...allKeys,
      lease.token,
      ...seen.flatMap(({ partition, watermark = '', record = '' }) => [
        partition,
        watermark,
        record,
      ]),
    );
    if (!Array.isArray(reply)) throw new LeaseLostError(lease.board);
    return reply.map(Number);
  }
}
