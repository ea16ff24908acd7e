import { byBoard, readBoards } from '../layout/boards.js';
import type { Boards } from '../layout/generation-types.js';
import type { KeySpace } from '../layout/keys.js';
import { chosenShards, type ShardChoice } from '../layout/sharded-store.js';
import type { LiveBoard } from '../layout/types.js';
import type { RedisClient } from '../layout/redis-client.js';

/** Lists the boards of all shards. */
export class BoardList {
  #boards: Boards | undefined;
  /** The number of shards that Redis had at the last read. */
  protected lastShards = 1;

  constructor(
    protected readonly redis: RedisClient,
    protected readonly keys: KeySpace,
    /** By default all shards that Redis has. */
    protected readonly choice?: ShardChoice,
  ) {}

  /**
   * The boards of all shards.
   * Cost: one request, and eight per shard, more with thousands of boards. One request, and one per
   * shard, if no board has changed since the last call.
   */
  async boards(): Promise<Boards> {
    const known = this.#boards;
    const shards = await this.allShards();
    this.#boards = await readBoards(this.redis, this.keys, shards, known);
    return this.#boards;
  }

  /**
   * The live boards, sorted by name.
   * Cost: as `boards`.
   */
  async live(): Promise<LiveBoard[]> {
    const { live } = await this.boards();
    return [...live.values()].sort(byBoard);
  }

  /**
   * The number of shards that Redis has; 1 if no ranklog has claimed it yet. If the node that
   * stores the number loses its data, this returns the number as last read until a process claims
   * Redis again.
   */
  async shards(): Promise<number> {
    if (this.choice !== undefined) return this.choice.shards;

    const stored = await this.redis.get(this.keys.shards());
    if (stored !== null) this.lastShards = Number(stored);
    return this.lastShards;
  }

  protected async allShards(): Promise<readonly number[]> {
    return chosenShards(this.choice ?? { shards: await this.shards() });
  }
}
