import type { Redis } from 'ioredis';
import { NoInstanceError, NoSuchViewError, type BoardDefinition } from '#board';
import { BUILDING, liveBoardOf } from '../layout/boards.js';
import {
  BoardBuildingError,
  InvalidReadError,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from '../layout/errors.js';
import { shardOf, type KeySpace } from '../layout/keys.js';
import type { LiveBoard } from '../layout/types.js';
import { MOVED, type ReadReply } from '../lua/scripts.js';
import { LiveBoards } from './live-boards.js';

/** A read gives up when so many of its calls have named outdated generations: builds are too slow for that. */
const MOST_FOLLOWED = 5;

interface Located extends LiveBoard {
  readonly shard: number;
}
type Position = Pick<Located, 'board' | 'shard' | 'generation'>;

/**
 * Finds the generation of a board that is to be read. It names to a script the generation that it found last, and the script
 * reads it only while it is live (or is the snapshot). Otherwise the script returns the live generation and its definition, and
 * is called again. The definition of a generation never changes, so it is cached, too.
 */
export class BoardLocator extends LiveBoards {
  readonly #found = new Map<string, Located>();

  /** `generation` is a snapshot to read instead of live generations. */
  constructor(
    redis: Redis,
    keys: KeySpace,
    private readonly generation?: string,
    private readonly isPinned = false,
  ) {
    super(redis, keys);
  }

  /** A locator that stays with the generation of a board that it finds first: see `read`. */
  pinned(): BoardLocator {
    return new BoardLocator(this.redis, this.keys, this.generation, true);
  }

  /** Calls a script with the board's generation, again while it names another one. @throws ListingInterruptedError if pinned */
  async read<Reply extends ReadReply | string[], Asked>(
    board: string,
    ask: (definition: BoardDefinition) => Asked,
    call: (located: Located, asked: Asked) => Promise<Reply>,
  ): Promise<[Reply, Located, Asked]> {
    for (let attempt = 1; ; attempt++) {
      const cached = this.#found.get(board);
      const located = cached ?? (await this.locate(board));
      try {
        const asked = ask(located.definition);
        const reply = await call(located, asked);
        if (!Array.isArray(reply) || String(reply[0]) !== MOVED) return [reply, located, asked];
        if (this.isPinned && this.generation === undefined)
          throw new ListingInterruptedError(board);
        if (attempt === MOST_FOLLOWED) throw new UnknownGenerationError(board, located.generation);
        this.#follow(board, located.shard, reply.map(String));
      } catch (error) {
        // The cached definition may be outdated; only the live one shows that there is no such view or column.
        const isRefused = [NoSuchViewError, NoInstanceError, InvalidReadError].some(
          (type) => error instanceof type,
        );
        if (cached === undefined || !isRefused) throw error;
        this.#found.delete(board);
      }
    }
  }

  /** Asks Redis which generation to read. @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError */
  async locate(board: string): Promise<Located> {
    const shard = shardOf(board, await this.shards());
    const reply = await this.viewsFrom({ board, shard, generation: '' }, '');
    const located = this.#follow(board, shard, reply);
    if (located !== undefined) return located;
    if (this.generation !== undefined) throw new UnknownGenerationError(board, this.generation);
    const known = (await this.live()).map((other) => other.board);
    throw new UnknownBoardError(board, known);
  }

  /** Caches the generation that a script returned; undefined for none. @throws BoardBuildingError */
  #follow(board: string, shard: number, reply: readonly string[]): Located | undefined {
    const [, generation = '', text = '', starts] = reply;
    this.#found.delete(board);
    if (generation === BUILDING) throw new BoardBuildingError(board);
    if (text === '') return undefined;
    const located = { ...liveBoardOf(generation, text, starts), shard };
    this.#found.set(board, located);
    return located;
  }

  viewsFrom(place: Position, cursor: string): Promise<string[]> {
    const own = [this.keys.expiries(place.shard, place.generation)];
    return this.redis.ranklogViews(...this.arguments(place, own), cursor);
  }

  /** The arguments of lua/includes/read.lua; `own` are the further keys of a script. */
  arguments({ board, shard, generation }: Position, own: readonly string[]) {
    const { keys } = this;
    const all = [
      ...[keys.live(shard), keys.snapshots(shard), keys.definitions(shard), keys.starts(shard)],
      ...[keys.continuity(shard), keys.recoveryTargets(shard)],
      ...[keys.facts(shard, generation), keys.views(shard, generation), ...own],
    ];
    return [all.length, ...all, board, generation, this.generation ?? ''] as const;
  }
}
