import { readStates, type ReadableView } from '#board';
import type { KeySpace } from '../layout/keys.js';
import { ExpiredViewError } from '../layout/store-errors.js';
import { REACH_TIME_WIDTH, TIE_SIGNS } from '../layout/ties.js';
import type { LiveBoard } from '../layout/types.js';
import { defineScripts, MOVED, READ_SCRIPTS, type ReadReply } from '../lua/scripts.js';
import { viewsStepOf } from './existing-views.js';
import { MOST_COUNTED, type DenseOption } from './read-requests.js';
import {
  histogramOf,
  placesOf,
  playersOf,
  type Histogram,
  type PlacesReply,
} from './standings-reply.js';
import type { Anchor, Bounds } from './view-selection.js';
import type { RedisClient } from '../layout/redis-client.js';

/** The generation of a board to read, and its shard. */
export interface Located extends LiveBoard {
  readonly shard: number;
}

/** The generation that a call names to its script; empty if it is not known yet. */
type BelievedGeneration = Pick<Located, 'board' | 'shard' | 'generation'>;

/** `limit` players of a view from an anchor on. */
export interface Page extends ReadableView, DenseOption {
  readonly anchor: Anchor;
  readonly limit: number;
  /** The range of scores; by default any score. */
  readonly bounds?: Bounds;
  /** How many players Redis may read to count dense ranks; by default MOST_COUNTED. */
  readonly mostCounted?: number | undefined;
}

/**
 * A call named a generation that is not the one to read. The reply of the script names the one to
 * read: see lua/includes/read.lua. Only BoardLocator.read handles this error.
 */
export class MovedError extends Error {
  readonly reply: readonly string[];

  constructor(reply: readonly (string | Buffer)[]) {
    super('the generation has moved');
    this.reply = reply.map(String);
  }
}

/**
 * Calls the scripts that read a generation: builds the keys and arguments, and decodes the reply.
 * All methods but `find` and `sizes` may reject with MovedError. Methods that read one view may
 * also reject with ExpiredViewError.
 */
export class ReadCommands {
  /** `snapshot` is the generation to read instead of live ones. */
  constructor(
    private readonly redis: RedisClient,
    private readonly keys: KeySpace,
    readonly snapshot?: string,
  ) {
    defineScripts(redis, READ_SCRIPTS);
  }

  /** Asks for the generation to read. Returns the same reply as a MovedError has. */
  find(board: string, shard: number): Promise<string[]> {
    return this.#views({ board, shard, generation: '' }, '');
  }

  /** A step of a listing, without the sizes of the views. */
  async views(located: Located, cursor: string) {
    const reply = await this.#views(located, cursor);
    if (reply[0] === MOVED) throw new MovedError(reply);
    return viewsStepOf(reply, located.generation);
  }

  /** The numbers of players of views; 0 for a view that does not exist. */
  sizes({ shard, generation }: Located, views: readonly string[]): Promise<number[]> {
    const sizes = views.map((view) => this.redis.zcard(this.keys.ranking(shard, generation, view)));
    return Promise.all(sizes);
  }

  /**
   * Counts dense ranks if asked to: Redis then reads the players in front. Always counts them at
   * the top, where this costs nothing.
   */
  async page(located: Located, page: Page) {
    const { definition } = located;
    const { view, anchor, limit, bounds = ['', ''], mostCounted = MOST_COUNTED } = page;
    const [bestValue, worstValue] = bounds;
    const [anchorName, ...anchored] = anchor;
    const isTop = anchorName === 'position' && anchored[0] === 0 && bestValue === '';
    const countsDense = page.dense === true || isTop;

    const reply = await this.redis.ranklogPageBuffer({
      ...this.#ofPlaces(located, page, countsDense ? mostCounted : 0),
      tieSign: TIE_SIGNS[definition.ties],
      bestValue,
      worstValue,
      pageSize: limit,
      anchor: anchorName,
      anchored,
    });
    return { ...placesOf(definition, view, decode(located, page, reply)), bounds };
  }

  /** The players with these ids who are in the view, sorted by rank. */
  async players(located: Located, readable: ReadableView, ids: readonly string[]) {
    const { definition } = located;
    const reply = await this.redis.ranklogPlayersBuffer({
      ...this.#ofPlaces(located, readable),
      tieSign: TIE_SIGNS[definition.ties],
      ids,
    });
    return playersOf(definition, readable.view, decode(located, readable, reply));
  }

  async histogram(
    located: Located,
    readable: ReadableView,
    { buckets, bounds }: { readonly buckets: number; readonly bounds: Bounds },
  ): Promise<Histogram> {
    const reply = await this.redis.ranklogHistogramBuffer({
      ...this.#ofPlaces(located, readable),
      bucketCount: buckets,
      bestValue: bounds[0],
      worstValue: bounds[1],
    });
    const { words } = decode(located, readable, reply);
    return histogramOf(located.definition, readable.view, words);
  }

  /** A step of a search. The returned cursor is valid on the returned server only. */
  async search(
    located: Located,
    readable: ReadableView,
    { cursor, pattern }: { readonly cursor: string; readonly pattern: string },
  ) {
    const { definition } = located;
    const reply = await this.redis.ranklogSearchBuffer({
      ...this.#ofPlaces(located, readable),
      tieSign: TIE_SIGNS[definition.ties],
      cursor,
      pattern,
    });
    const { words, states } = decode(located, readable, reply);
    const [server = '', nextCursor = '', ...foundWords] = words;
    const found = playersOf(definition, readable.view, { words: foundWords, states });
    return { server, cursor: nextCursor, found };
  }

  #views(believed: BelievedGeneration, cursor: string): Promise<string[]> {
    const expiries = this.keys.expiries(believed.shard, believed.generation);
    return this.redis.ranklogViews({ ...this.#ofRead(believed), expiries, cursor });
  }

  /** The keys and arguments of lua/includes/places.lua. */
  #ofPlaces(located: Located, { view, expiresAt }: ReadableView, mostCounted = 0) {
    const { shard, generation, definition } = located;
    return {
      ...this.#ofRead(located),
      ranking: this.keys.ranking(shard, generation, view),
      players: this.keys.players(shard, generation, view),
      view,
      expiresAt: expiresAt ?? '-',
      columnCount: definition.columns.length,
      reachTimeWidth: REACH_TIME_WIDTH[definition.ties],
      mostCounted,
    };
  }

  /** The keys and arguments of lua/includes/read.lua. */
  #ofRead({ board, shard, generation }: BelievedGeneration) {
    const { keys } = this;
    return {
      live: keys.live(shard),
      snapshots: keys.snapshots(shard),
      definitions: keys.definitions(shard),
      starts: keys.starts(shard),
      continuity: keys.continuity(shard),
      recoveryTargets: keys.recoveryTargets(shard),
      facts: keys.facts(shard, generation),
      views: keys.views(shard, generation),
      board,
      believedGeneration: generation,
      snapshot: this.snapshot ?? '',
    };
  }
}

/**
 * Decodes the reply of a script that includes lua/includes/places.lua.
 * @throws MovedError, ExpiredViewError
 */
function decode(located: Located, readable: ReadableView, reply: ReadReply): PlacesReply {
  const { board, definition } = located;
  const { view, expiresAt } = readable;
  if (!Array.isArray(reply))
    throw new ExpiredViewError(board, view, expiresAt ?? Infinity, Number(reply));

  const [lines = '', states = Buffer.alloc(0)] = reply;
  const words = lines.toString().split('\n');
  if (words[0] === MOVED) throw new MovedError(reply);
  return { words, states: readStates(states, definition.columns.length) };
}
