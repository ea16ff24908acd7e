import type { Redis } from 'ioredis';
import { readableView, type ReadableView } from '#board';
import { TIE_SIGNS } from './run-arguments.js';
import { BoardStore } from './board-store.js';
import { BUILDING, liveBoardOf, readBoards } from './boards.js';
import { ContinuityStore } from './continuity-store.js';
import {
  BoardBuildingError,
  ExpiredViewError,
  UnknownBoardError,
  UnknownGenerationError,
} from './errors.js';
import { countViews, sizedViews, type ViewSummary } from './existing-views.js';
import type { Boards } from './generation-types.js';
import { keptOffset } from './kept-texts.js';
import type { KeySpace } from './keys.js';
import { defineScripts } from './scripts.js';
import { shardOf } from './shard.js';
import { standingsOf, type Standings } from './standings.js';
import type { BoardFacts, HealTarget, LiveBoard } from './types.js';

/** How often a pointer is followed to a generation that is given up meanwhile: builds are not that fast. */
const MOST_FOLLOWED = 5;

const REACH_TIME_WIDTH = { earliest: 7, latest: 7, none: 0 } as const;

/** What a live board has counted, and how many of its most views exist. */
export interface BoardOverview extends BoardFacts {
  readonly board: string;
  readonly views: number;
  readonly maxViews: number;
}

/** A part of a view: `limit` players from position `offset` (from 0) on. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Whether dense ranks are counted. A page from the top has them in any case: there they come for nothing.
 * Cost: it walks the different columns in front, about 1 us for each player, while Redis does nothing else; a long tie is
 * jumped over (see lua/places.lua).
 */
export interface DenseOption {
  readonly dense?: boolean;
}

interface Located {
  readonly shard: number;
  readonly live: LiveBoard;
}

/**
 * Reads boards. Each method follows the pointer to the live generation first, then reads in one atomic step.
 * A view that has expired does not exist, swept or not. What is `stale` lacks events that were published before: Redis has
 * lost them, and they are being applied again.
 */
export class BoardReader {
  /** With a generation, its boards are read as that one has them: a snapshot, in place of the live one. */
  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly generation?: string,
  ) {
    defineScripts(redis);
  }

  /** The boards of all shards. Cost: five short requests a shard. */
  async boards(): Promise<Boards> {
    const { redis, keys } = this;
    return readBoards({ redis, keys, shards: await this.shards() });
  }

  /** All live boards, by name. */
  async liveBoards(): Promise<LiveBoard[]> {
    const { live } = await this.boards();
    return [...live.values()].sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** The live generation of a board. @throws UnknownBoardError, BoardBuildingError */
  async liveBoard(board: string): Promise<LiveBoard> {
    return (await this.#locate(board)).live;
  }

  /** What each live board has counted, by name. Cost: three requests, and two more a board. */
  async overviews(): Promise<BoardOverview[]> {
    const shards = await this.shards();
    const store = new BoardStore(this.redis, this.keys, { shards });
    const boards = await this.liveBoards();
    return Promise.all(
      boards.map(async (live) => {
        const facts = await store.facts(live);
        const { board, generation, definition } = live;
        const place = { keys: this.keys, shard: shardOf(board, shards), generation };
        const views = await countViews(this.redis, place, facts.clock);
        return { board, ...facts, views, maxViews: definition.maxViews };
      }),
    );
  }

  /** The views that exist, by their text. Cost: linear in the views. @throws UnknownBoardError, BoardBuildingError */
  async views(board: string): Promise<ViewSummary[]> {
    const [views] = await this.#follow(board, ({ shard, live: { generation } }) =>
      sizedViews(this.redis, { keys: this.keys, shard, generation }),
    );
    return views;
  }

  /**
   * Players of a view in order; none where nobody is ranked.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, MalformedViewError, NoSuchViewError, ExpiredViewError
   */
  async standings(
    board: string,
    view: string,
    { offset, limit, dense = false }: Page & DenseOption,
  ): Promise<Standings> {
    return this.#readPlaces(board, view, (located, readable) => {
      const args = this.#readArguments(located, readable, dense || offset === 0);
      return this.redis.ranklogPage(...args, offset, limit);
    });
  }

  /**
   * A player's place: as standings with one entry, or none for a player who is not in the view.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, MalformedViewError, NoSuchViewError, ExpiredViewError
   */
  async rank(
    board: string,
    view: string,
    playerId: string,
    { dense = false }: DenseOption = {},
  ): Promise<Standings> {
    return this.#readPlaces(board, view, (located, readable) => {
      const args = this.#readArguments(located, readable, dense);
      const tie = TIE_SIGNS[located.live.definition.ties];
      return this.redis.ranklogRank(...args, playerId, tie);
    });
  }

  /** For each partition, the first offset that is not applied in every shard. */
  async appliedOffsets(): Promise<Map<number, number>> {
    const shards = Array.from({ length: await this.shards() }, (_, shard) => shard);
    const watermarks = await Promise.all(
      shards.map((shard) => this.redis.hgetall(this.keys.watermarks(shard))),
    );
    const partitions = new Set(watermarks.flatMap((shard) => Object.keys(shard)));
    return new Map(
      [...partitions].map((partition) => [
        Number(partition),
        Math.min(...watermarks.map((shard) => keptOffset(shard[partition]))) + 1,
      ]),
    );
  }

  /** Whether what is read of a board is stale. Cost: four requests. */
  async isStale(board: string): Promise<boolean> {
    const shards = await this.shards();
    const store = new ContinuityStore(this.redis, this.keys, { shards });
    const shard = shardOf(board, shards);
    const [{ isContinued }, healing] = await Promise.all([
      store.continuity(shard),
      store.healing(),
    ]);
    return !isContinued || healing.some((target) => target.shard === shard);
  }

  /** Partitions that are applied again after a loss of Redis, and how far they are. Cost: two requests a shard. */
  async healing(): Promise<HealTarget[]> {
    return new ContinuityStore(this.redis, this.keys, { shards: await this.shards() }).healing();
  }

  /** How many shards there are. */
  async shards(): Promise<number> {
    return Number((await this.redis.get(this.keys.shards())) ?? 1);
  }

  async #readPlaces(
    board: string,
    view: string,
    read: (located: Located, readable: ReadableView) => Promise<string[] | string | number>,
  ): Promise<Standings> {
    const [found] = await this.#follow(board, async (located) => {
      const { definition } = located.live;
      const readable = readableView(definition, view);
      const reply = await read(located, readable);
      return typeof reply === 'number' ? undefined : answer(located, readable, reply);
    });
    return found;
  }

  /**
   * Reads the generation that the pointer leads to. One that was given up between the two has lost its keys, and is no
   * empty board: then the pointer is followed again. @throws UnknownGenerationError
   */
  async #follow<T>(
    board: string,
    read: (located: Located) => Promise<T | undefined>,
  ): Promise<[T, Located]> {
    for (let attempt = 1; ; attempt++) {
      const located = await this.#locate(board);
      const found = await read(located);
      if (found !== undefined) return [found, located];
      if (attempt === MOST_FOLLOWED)
        throw new UnknownGenerationError(board, located.live.generation);
    }
  }

  /** @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError */
  async #locate(board: string): Promise<Located> {
    const shard = shardOf(board, await this.shards());
    for (let attempt = 1; ; attempt++) {
      const generation = await this.#chosen(board, shard);
      if (generation === BUILDING) throw new BoardBuildingError(board);
      const live = generation === null ? undefined : await this.#read(board, { shard, generation });
      if (live !== undefined) return { shard, live };
      if (this.generation !== undefined) throw new UnknownGenerationError(board, this.generation);
      if (generation === null || attempt === MOST_FOLLOWED) throw await this.#unknown(board);
    }
  }

  /** The live generation, or the snapshot asked for; others are half built, or stand still. */
  async #chosen(board: string, shard: number): Promise<string | null> {
    if (this.generation === undefined) return this.redis.hget(this.keys.live(shard), board);
    const isKept = await this.redis.hexists(this.keys.snapshots(shard), this.generation);
    return isKept === 1 ? this.generation : null;
  }

  async #unknown(board: string): Promise<UnknownBoardError> {
    const known = (await this.liveBoards()).map((other) => other.board);
    return new UnknownBoardError(board, known);
  }

  /** undefined for a generation that is none of the board, or was given up and has lost its definition. */
  async #read(
    board: string,
    { shard, generation }: { shard: number; generation: string },
  ): Promise<LiveBoard | undefined> {
    const [text, starts] = await Promise.all([
      this.redis.hget(this.keys.definitions(shard), generation),
      this.redis.hget(this.keys.starts(shard), generation),
    ]);
    const found = text === null ? undefined : liveBoardOf(board, { generation, text, starts });
    return found?.definition.board === board ? found : undefined;
  }

  /** What lua/places.lua takes. */
  #readArguments({ shard, live }: Located, { view, expiresAt }: ReadableView, dense: boolean) {
    const { generation, definition } = live;
    return [
      8,
      this.keys.facts(shard, generation),
      this.keys.views(shard, generation),
      this.keys.ranking(shard, generation, view),
      this.keys.players(shard, generation, view),
      this.keys.continuity(shard),
      this.keys.healing(shard),
      this.keys.definitions(shard),
      this.keys.discarded(shard),
      view,
      expiresAt ?? '-',
      definition.columns.length,
      REACH_TIME_WIDTH[definition.ties],
      dense ? 1 : 0,
      generation,
    ] as const;
  }
}

/** @throws ExpiredViewError */
function answer(
  { live: { board, definition } }: Located,
  { view, expiresAt }: ReadableView,
  reply: string[] | string,
): Standings {
  if (typeof reply === 'string')
    throw new ExpiredViewError(board, view, expiresAt ?? Infinity, Number(reply));
  return standingsOf(definition, view, reply);
}
