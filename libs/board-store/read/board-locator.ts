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
 * A read gives up at so many changes of the generation. Builds take far longer than reads, so this
 * many mean a fault.
 */
const MOST_FOLLOWED = 5;

interface LocatorOptions {
  readonly choice?: ShardChoice | undefined;
  readonly isPinned?: boolean;
}

/**
 * Finds the generation of a board that is to be read, and caches it with its definition, which
 * never changes. A read names the cached generation to its script, which reads it only while it is
 * live (or is the snapshot).
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

  /** A locator that stays with the generation of a board that it finds first: see `read`. */
  pinned(): BoardLocator {
    const { redis, keys, commands, choice } = this;
    return new BoardLocator(redis, keys, commands, { choice, isPinned: true });
  }

  /**
   * Runs a read for the generation of a board. Repeats the read if the live generation has changed,
   * or if the cached definition lacks the view or column: the live one may have it. With a cached
   * generation the read begins in the same tick, so that several reads share a trip.
   * @throws ListingInterruptedError if pinned
   */
  async read<Result>(board: string, run: (located: Located) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const cached = this.#found.get(board);
      const located = cached ?? (await this.locate(board));
      try {
        return await run(located);
      } catch (error) {
        if (error instanceof MovedError) {
          // A listing can't continue in another generation. With a snapshot to read, the error
          // means that the snapshot is gone.
          if (this.#isPinned && this.commands.snapshot === undefined)
            throw new ListingInterruptedError(board);
          if (attempt === MOST_FOLLOWED)
            throw new UnknownGenerationError(board, located.generation);
          this.#follow(board, located.shard, error.reply);
        } else if (cached !== undefined && isRefusal(error)) this.#found.delete(board);
        else throw error;
      }
    }
  }

  /**
   * Asks Redis which generation to read.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, InvalidReadError
   */
  async locate(board: string): Promise<Located> {
    requireText('board', board);
    const { snapshot } = this.commands;
    const shard = shardOf(board, await this.shards());
    const located = this.#follow(board, shard, await this.commands.find(board, shard));
    if (located !== undefined) return located;
    if (snapshot !== undefined) throw new UnknownGenerationError(board, snapshot);
    const known = (await this.live()).map((other) => other.board);
    throw new UnknownBoardError(board, known);
  }

  /** Caches the generation that a script named; undefined for none. @throws BoardBuildingError */
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

/** Whether a read failed because the definition does not have what was asked for. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof NoSuchViewError ||
    error instanceof NoInstanceError ||
    error instanceof InvalidReadError
  );
}
