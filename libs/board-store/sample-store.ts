import { TIE_SIGNS } from './run-arguments.js';
import { keptOffset } from './kept-texts.js';
import { ShardedStore } from './sharded-store.js';
import type { LiveBoard } from './types.js';

/** What an invariant is about: see lua/check-sample.lua. */
export type SampleViolationKind =
  'view' | 'type' | 'number' | 'size' | 'state' | 'player' | 'member';

/** An invariant that does not hold in a view. */
export interface SampleViolation {
  readonly kind: SampleViolationKind;
  readonly detail: string;
}

/** The watermarks of a shard, by partition, and the token of the continuity in which they only grow. */
export interface WatermarkReading {
  /** Empty while the shard is not continued: then nothing is promised. */
  readonly continuity: string;
  readonly watermarks: ReadonlyMap<number, number>;
}

/** Samples of boards, for checks that what Redis keeps of them agrees. Reads only; each method is one short step. */
export class SampleStore extends ShardedStore {
  /** Some views of a board, at random; none where their list is no list. Cost: O(count). */
  async randomViews({ board, generation }: LiveBoard, count: number): Promise<string[]> {
    const key = this.keys.views(this.shardOf(board), generation);
    if ((await this.redis.type(key)) !== 'hash') return [];
    return this.redis.hrandfield(key, count) as Promise<string[]>;
  }

  /**
   * What does not hold in a view, of so many players and as many places in the ranking, at random; nothing once the
   * generation is no longer live. Cost: O(size log players + partitions).
   */
  async checkView(live: LiveBoard, view: string, size: number): Promise<SampleViolation[]> {
    const { board, generation, definition } = live;
    const { keys } = this;
    const shard = this.shardOf(board);
    const reply = await this.redis.ranklogCheckSample(
      5,
      keys.live(shard),
      keys.views(shard, generation),
      keys.players(shard, generation, view),
      keys.ranking(shard, generation, view),
      keys.facts(shard, generation),
      board,
      generation,
      view,
      TIE_SIGNS[definition.ties],
      definition.columns.length,
      size,
      size,
    );
    const violations: SampleViolation[] = [];
    for (let index = 0; index < reply.length; index += 2)
      violations.push({
        kind: reply[index] as SampleViolationKind,
        detail: reply[index + 1] ?? '',
      });
    return violations;
  }

  /** Cost: O(partitions). */
  async watermarks(shard: number): Promise<WatermarkReading> {
    const [continuity = '', ...pairs] = await this.redis.ranklogCheckWatermarks(
      2,
      this.keys.continuity(shard),
      this.keys.watermarks(shard),
    );
    const watermarks = new Map<number, number>();
    for (let index = 0; index < pairs.length; index += 2)
      watermarks.set(Number(pairs[index]), keptOffset(pairs[index + 1]));
    return { continuity, watermarks };
  }
}
