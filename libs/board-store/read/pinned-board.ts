import type { KeySpace } from '../layout/keys.js';
import { BoardLocator } from './board-locator.js';
import type { ViewsPage } from './existing-views.js';
import { PagedReads } from './paged-reads.js';
import { ReadCommands, type Located } from './read-commands.js';
import type { Standings } from './standings-reply.js';
import type { RedisClient } from '../layout/redis-client.js';

/**
 * Reads one generation of a board: the one that was live when the board was opened.
 * @throws ListingInterruptedError, from every read once another generation is live or another
 * server answers
 */
export class PinnedBoard {
  private constructor(
    private readonly redis: RedisClient,
    private readonly keys: KeySpace,
    private readonly pages: PagedReads,
    readonly live: Located,
  ) {}

  /**
   * Cost: one request.
   * @throws UnknownBoardError, BoardBuildingError
   */
  static async open(
    redis: RedisClient,
    keys: KeySpace,
    shards: number,
    board: string,
  ): Promise<PinnedBoard> {
    const commands = new ReadCommands(redis, keys);
    const options = { choice: { shards }, isPinned: true };
    const locator = new BoardLocator(redis, keys, commands, options);
    const live = await locator.locate(board);
    return new PinnedBoard(redis, keys, new PagedReads(locator, commands), live);
  }

  /** The event clock in ms; null before the first event, and if no window has `keep`. */
  async clock(): Promise<number | null> {
    const { shard, generation } = this.live;
    const clock = await this.redis.hget(this.keys.facts(shard, generation), 'clock');
    return clock === null ? null : Number(clock);
  }

  /**
   * Lists views as BoardReader.viewPages does, and also views whose players are all banned or
   * erased.
   */
  views(): AsyncGenerator<ViewsPage> {
    return this.pages.views(this.live.board, undefined, true);
  }

  /**
   * The first players of a view.
   * @throws ExpiredViewError
   */
  top(view: string, limit: number): Promise<Standings> {
    return this.pages.standings(this.live.board, { view, limit });
  }
}
