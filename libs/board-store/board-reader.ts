import type { Redis } from 'ioredis';
import { NoSuchViewError, readableView, type ReadableView } from '#board';
import { BoardStore } from './board-store.js';
import { BUILDING, liveBoardOf, readBoards } from './boards.js';
import { ContinuityStore } from './continuity-store.js';
import {
  BoardBuildingError,
  ExpiredViewError,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from './errors.js';
import {
  byText,
  pagesOf,
  viewsStepOf,
  type ViewsPage,
  type ViewsStep,
  type ViewSummary,
} from './existing-views.js';
import type { Boards } from './generation-types.js';
import { shardOf, type KeySpace } from './keys.js';
import { TIE_SIGNS } from './run-arguments.js';
import { defineScripts, MOVED } from './scripts.js';
import { standingsOf, type Standings } from './standings.js';
import type { BoardFacts, RecoveryTarget, LiveBoard } from './types.js';

/** How often one read may find that another generation went live: builds are too slow for more to go live during a read. */
const MOST_FOLLOWED = 5;

const REACH_TIME_WIDTH = { earliest: 7, latest: 7, none: 0 } as const;

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
 * Whether to count dense ranks. A page from the top always has them. For any other page or rank, Redis reads up to 10,000 players
 * in front of it (10 ms): enough for the first 5,000 ranks, and for later ranks if enough players are tied.
 */
export interface DenseOption {
  readonly dense?: boolean;
}

interface Located extends LiveBoard {
  readonly shard: number;
}
type Place = Pick<Located, 'board' | 'shard' | 'generation'>;

/**
 * Reads boards. A page or a rank takes one trip to Redis: the reader names the generation that it found last, and the script
 * reads it only while it is live. Otherwise the script returns the live generation and its definition, and the reader calls
 * again. The definition of a generation never changes, so it is parsed once. Expired views are never read, swept or not.
 * A reply is `stale` while Redis lacks published events, which are being applied again.
 */
export class BoardReader {
  readonly #found = new Map<string, Located>();

  /** `generation` is a snapshot to read in place of the live generation. */
  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly generation?: string,
  ) {
    defineScripts(redis);
  }

  /** The boards of all shards. Cost: five short requests per shard. */
  async boards(): Promise<Boards> {
    return readBoards(this.redis, this.keys, await this.shards());
  }

  async liveBoards(): Promise<LiveBoard[]> {
    const { live } = await this.boards();
    return [...live.values()].sort((a, b) => (a.board < b.board ? -1 : 1));
  }

  /** The live generation of a board. Cost: two requests. @throws UnknownBoardError, BoardBuildingError */
  async liveBoard(board: string): Promise<LiveBoard> {
    return this.#locate(board);
  }

  /** The live boards with their counters, sorted by name. Cost: two requests, five per shard, and three per board. */
  async overviews(): Promise<BoardOverview[]> {
    const { redis, keys } = this;
    const store = new BoardStore(redis, keys, { shards: await this.shards() });
    const boards = await this.liveBoards();
    return Promise.all(
      boards.map(async (live) => {
        const { board, generation, definition } = live;
        const facts = await store.facts(live);
        const shard = store.shardOf(board);
        const [views, expired] = await Promise.all([
          redis.hlen(keys.views(shard, generation)),
          redis.zcount(keys.expiries(shard, generation), '-inf', facts.clock ?? '(-inf'),
        ]);
        return { board, ...facts, views: views - expired, maxViews: definition.maxViews };
      }),
    );
  }

  /**
   * The views that have players, about 10,000 per page, each page sorted by text. A view that exists during the whole listing
   * appears once; a view that begins or ends meanwhile may be missing. No request blocks Redis for long.
   * @throws UnknownBoardError, BoardBuildingError, ListingInterruptedError
   */
  viewPages(board: string): AsyncGenerator<ViewsPage> {
    return pagesOf(board, (cursor) => this.#viewsFrom(board, cursor));
  }

  /** All views in one list, sorted by text: for boards whose views fit in memory. */
  async views(board: string): Promise<ViewSummary[]> {
    const found: ViewSummary[] = [];
    for await (const { views } of this.viewPages(board)) for (const view of views) found.push(view);
    return found.sort(byText);
  }

  /**
   * Players of a view in order.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, MalformedViewError, NoSuchViewError, ExpiredViewError
   */
  async standings(
    board: string,
    view: string,
    { offset, limit, dense = false }: Page & DenseOption,
  ): Promise<Standings> {
    return this.#readPlaces(board, view, (located, readable) =>
      this.redis.ranklogPage(
        ...this.#placeArguments(located, readable, dense || offset === 0),
        offset,
        limit,
      ),
    );
  }

  /**
   * A player's place, as standings with one entry; without entries if the player is not in the view.
   * @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError, MalformedViewError, NoSuchViewError, ExpiredViewError
   */
  async rank(
    board: string,
    view: string,
    playerId: string,
    { dense = false }: DenseOption = {},
  ): Promise<Standings> {
    return this.#readPlaces(board, view, (located, readable) =>
      this.redis.ranklogRank(
        ...this.#placeArguments(located, readable, dense),
        playerId,
        TIE_SIGNS[located.definition.ties],
      ),
    );
  }

  /** For each partition, the first offset that some shard has not applied. */
  async appliedOffsets(): Promise<Map<number, number>> {
    const shards = Array.from({ length: await this.shards() }, (_, shard) => shard);
    const appliedOffsets = await Promise.all(
      shards.map((shard) => this.redis.hgetall(this.keys.appliedOffsets(shard))),
    );
    const partitions = new Set(appliedOffsets.flatMap((shard) => Object.keys(shard)));
    return new Map(
      [...partitions].map((partition) => [
        Number(partition),
        Math.min(...appliedOffsets.map((shard) => Number(shard[partition] ?? -1))) + 1,
      ]),
    );
  }

  /** Partitions that recover after a loss of Redis. Cost: two requests per shard. */
  async recoveryTargets(): Promise<RecoveryTarget[]> {
    return new ContinuityStore(this.redis, this.keys, {
      shards: await this.shards(),
    }).recoveryTargets();
  }

  async shards(): Promise<number> {
    return Number((await this.redis.get(this.keys.shards())) ?? 1);
  }

  async #readPlaces(
    board: string,
    view: string,
    call: (located: Located, readable: ReadableView) => Promise<string[] | string>,
  ): Promise<Standings> {
    let readable: ReadableView = { view, expiresAt: null };
    const [reply, { definition }] = await this.#read(board, (located) => {
      readable = readableView(located.definition, view);
      return call(located, readable);
    });
    if (typeof reply !== 'string') return standingsOf(definition, readable.view, reply);
    throw new ExpiredViewError(board, readable.view, readable.expiresAt ?? Infinity, Number(reply));
  }

  /** Reads one step of a listing, then the sizes of its views. A view that is swept in between has size 0 and is left out. */
  async #viewsFrom(board: string, cursor: string): Promise<ViewsStep> {
    const { keys, redis } = this;
    const [reply, located] = await this.#read(board, (found) =>
      redis.ranklogViews(...this.#viewsArguments(found), cursor),
    );
    const { shard, generation } = located;
    const step = viewsStepOf(reply, generation);
    const sizes = await Promise.all(
      step.views.map(({ view }) => redis.zcard(keys.ranking(shard, generation, view))),
    );
    if (sizes.includes(0) && (await this.#locate(board)).generation !== generation)
      throw new ListingInterruptedError(board);
    const sized = step.views.map((view, index) => ({ ...view, size: sizes[index] ?? 0 }));
    return { ...step, views: sized.filter(({ size }) => size > 0) };
  }

  /** Calls a script with the board's generation; calls it again while the script names another generation to read. */
  async #read<R extends string[] | string>(
    board: string,
    call: (located: Located) => Promise<R>,
  ): Promise<[R, Located]> {
    for (let attempt = 1; ; attempt++) {
      const cached = this.#found.get(board);
      const located = cached ?? (await this.#locate(board));
      try {
        const reply = await call(located);
        if (reply[0] !== MOVED) return [reply, located];
        if (attempt === MOST_FOLLOWED) throw new UnknownGenerationError(board, located.generation);
        this.#follow(board, located.shard, reply);
      } catch (error) {
        // The cached definition may be outdated; only the live one shows that there is no such view.
        if (cached === undefined || !(error instanceof NoSuchViewError)) throw error;
        this.#found.delete(board);
      }
    }
  }

  /** Asks Redis which generation to read. @throws UnknownBoardError, BoardBuildingError, UnknownGenerationError */
  async #locate(board: string): Promise<Located> {
    const shard = shardOf(board, await this.shards());
    const args = this.#viewsArguments({ board, shard, generation: '' });
    const located = this.#follow(board, shard, await this.redis.ranklogViews(...args, ''));
    if (located !== undefined) return located;
    if (this.generation !== undefined) throw new UnknownGenerationError(board, this.generation);
    const known = (await this.liveBoards()).map((other) => other.board);
    throw new UnknownBoardError(board, known);
  }

  /** Caches the generation that a script returned; undefined for none. @throws BoardBuildingError */
  #follow(board: string, shard: number, reply: readonly string[] | string): Located | undefined {
    const [, generation = '', text = '', starts] = reply;
    this.#found.delete(board);
    if (generation === BUILDING) throw new BoardBuildingError(board);
    if (text === '') return undefined;
    const live = liveBoardOf(board, generation, text, starts);
    this.#found.set(board, { ...live, shard });
    return this.#found.get(board);
  }

  /** The arguments of lua/commands/views-9.lua before the cursor. */
  #viewsArguments(place: Place) {
    return this.#arguments(place, [this.keys.expiries(place.shard, place.generation)]);
  }

  /** The arguments of lua/includes/places.lua. */
  #placeArguments(located: Located, { view, expiresAt }: ReadableView, dense: boolean) {
    const { shard, generation, definition } = located;
    return [
      ...this.#arguments(located, this.keys.ofView(shard, generation, view)),
      view,
      expiresAt ?? '-',
      definition.columns.length,
      REACH_TIME_WIDTH[definition.ties],
      dense ? 1 : 0,
    ] as const;
  }

  /** The arguments of lua/includes/read.lua; `own` are the further keys of a script. */
  #arguments({ board, shard, generation }: Place, own: readonly string[]) {
    const { keys } = this;
    const all = [
      keys.live(shard),
      keys.snapshots(shard),
      keys.definitions(shard),
      keys.starts(shard),
      keys.continuity(shard),
      keys.recoveryTargets(shard),
      keys.facts(shard, generation),
      keys.views(shard, generation),
      ...own,
    ];
    return [all.length, ...all, board, generation, this.generation ?? ''] as const;
  }
}
