import { shardOf } from '../layout/keys.js';
import { largestOf } from '../layout/sharded-store.js';
import type { LiveBoard } from '../layout/types.js';
import { BoardList } from './board-list.js';

export interface BoardOverview {
  readonly board: string;
  /** The event clock in ms; null before the first event, and if no window has `keep`. */
  readonly clock: number | null;
  /** Events with at least one view that had already expired. */
  readonly expired: number;
  /** Events dropped by `deduplicate`. */
  readonly duplicates: number;
  readonly views: number;
  readonly maxViews: number;
}

/** Reads what `ranklog status` and the metrics show. */
export class StoreStatus extends BoardList {
  /**
   * The live boards with their counters, sorted by name.
   * Cost: two requests, at most eight per shard (more with thousands of boards), and three per
   * board.
   */
  async overviews(): Promise<BoardOverview[]> {
    const shards = await this.shards();
    const live = await this.live();
    return Promise.all(live.map((board) => this.#overview(board, shardOf(board.board, shards))));
  }

  async #overview(
    { board, generation, definition }: LiveBoard,
    shard: number,
  ): Promise<BoardOverview> {
    const { redis, keys } = this;
    const facts = await redis.hgetall(keys.facts(shard, generation));
    const { clock, expired = 0, duplicates = 0 } = facts;
    const [views, unswept] = await Promise.all([
      redis.hlen(keys.views(shard, generation)),
      redis.zcount(keys.expiries(shard, generation), '-inf', clock ?? '(-inf'),
    ]);
    return {
      board,
      clock: clock === undefined ? null : Number(clock),
      expired: Number(expired),
      duplicates: Number(duplicates),
      views: views - unswept,
      maxViews: definition.maxViews,
    };
  }

  /** For each partition, the first offset that some shard has not applied. */
  async nextOffsets(): Promise<Map<number, number>> {
    const appliedOffsets = await this.#ofShards((shard) => this.keys.appliedOffsets(shard));
    const partitions = new Set(appliedOffsets.flatMap((shard) => Object.keys(shard)));

    const nextOffsets = new Map<number, number>();
    for (const partition of partitions) {
      const ofShards = appliedOffsets.map((shard) => Number(shard[partition] ?? -1));
      nextOffsets.set(Number(partition), Math.min(...ofShards) + 1);
    }
    return nextOffsets;
  }

  /** By partition, the published position that Redis stores, which may be some seconds old. */
  async publishedPositions(): Promise<Map<number, number>> {
    return largestOf(await this.#ofShards((shard) => this.keys.published(shard)));
  }

  async #ofShards(keyOf: (shard: number) => string): Promise<Record<string, string>[]> {
    const shards = await this.allShards();
    return Promise.all(shards.map((shard) => this.redis.hgetall(keyOf(shard))));
  }
}
