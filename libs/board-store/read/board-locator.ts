import { NoInstanceError, NoSuchViewError } from '#board';
import { BUILDING, liveBoardOf } from '../layout/boards.js';
import { shardOf, type KeySpace } from '../layout/keys.js';
import type { ShardChoice } from '../layout/sharded-store.js';
import {
  BoardBuildingError,
  InvalidReadError,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from '../layout/store-errors.js';
import { BoardList } from './board-list.js';
import { MovedError, type Located, type ReadCommands } from './read-commands.js';
import type { RedisClient } from '../layout/redis-client.js';
import { requireText } from './view-selection.js';

/**
 * A read gives up after this many changes of the generation. Builds take far longer than reads, so
 * several changes during one read mean a fault.
 */
const MOST_FOLLOWED = 5;

interface LocatorOptions {
  readonly choice?: ShardChoice | undefined;
  readonly isPinned?: boolean;
}

/**
 * Finds the generation of a board to read, and caches it with its definition, which never changes.
 * A read names the cached generation to its script. The script reads this generation only if it is
 * live, or if it is the snapshot to read.
 */
export class BoardLocator extends BoardList {
  readonly #found = new Map<string, Located>();
  readonly #isPinned: boolean;

  constructor(
    redis: RedisClient,
    keys: KeySpace,
    private readonly commands: ReadCommands,
    { choice, isPinned = false }: LocatorOptions = {},
  ) {
    super(redis, keys, choice);
    this.#isPinned = isPinned;
  }

  /** A locator whose reads fail once the live generation changes. */
  pinned(): BoardLocator {
    const { redis, keys, commands, choice } = this;
    const pinned = new BoardLocator(redis, keys, commands, { choice, isPinned: true });
    pinned.lastShards = this.lastShards;
    return pinned;
  }

  /**
   * Runs a read for the generation of a board. Repeats the read if the live generation has changed,
   * or if the cached definition lacks the view or column, because the live definition may have it.
   * With a cached generation, the read begins in the same tick, so that several reads share a trip.
   * @throws ListingInterruptedError if pinned and the live generation has changed
   * @throws UnknownGenerationError if the live generation changes too often
   */
  async read<Result>(board: string, run: (located: Located) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const cached = this.#found.get(board);
      const located = cached ?? (await this.locate(board));
      try {
        return await run(located);
      } catch (error) {
        if (error instanceof MovedError) {
          this.#requireFollowable(located, attempt);
          this.#follow(board, located.shard, error.reply);
        } else if (cached !== undefined && isRefusal(error)) {
          this.#found.delete(board);
        } else {
          throw error;
        }
      }
    }
  }

  /** Throws unless a read may follow the board to another generation. */
  #requireFollowable({ board, generation }: Located, attempt: number): void {
    // A listing can't continue in another generation. For a read of a snapshot, the error means
    // that the snapshot is gone: the next `locate` rejects.
    const readsLive = this.commands.snapshot === undefined;
    if (this.#isPinned && readsLive) throw new ListingInterruptedError(board);
    if (attempt === MOST_FOLLOWED) throw new UnknownGenerationError(board, generation);
  }

  /**
   * Asks Redis which generation to read.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, InvalidReadError
   */
  async locate(board: string): Promise<Located> {
    requireText('board', board);
    const shard = shardOf(board, await this.shards());
    const reply = await this.commands.find(board, shard);
    const located = this.#follow(board, shard, reply);
    if (located !== undefined) return located;

    const { snapshot } = this.commands;
    if (snapshot !== undefined) throw new UnknownGenerationError(board, snapshot);
    const known = (await this.live()).map((other) => other.board);
    throw new UnknownBoardError(board, known);
  }

  /**
   * Caches and returns the generation that a script named; undefined if it named none.
   * @throws BoardBuildingError
   */
  #follow(board: string, shard: number, reply: readonly string[]): Located | undefined {
    const [, generation = '', text = '', starts] = reply;
    this.#found.delete(board);
    if (generation === BUILDING) throw new BoardBuildingError(board);
    if (text === '') return undefined;

    const located = { ...liveBoardOf(generation, text, starts), shard };
    this.#found.set(board, located);
    return located;
  }
}

/** Whether a read failed because the definition lacks the requested view, window or column. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof NoSuchViewError ||
    error instanceof NoInstanceError ||
    error instanceof InvalidReadError
  );
}
