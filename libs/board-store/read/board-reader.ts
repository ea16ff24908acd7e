import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import {
  decimalColumns,
  readStates,
  resolveEvent,
  stateBytes,
  type BoardDefinition,
  type ReadableView,
} from '#board';
import { decodeText, type ScoreEvent } from '#contracts';
import { TIE_SIGNS } from '../apply/run-arguments.js';
import { ExpiredViewError, InvalidReadError, ListingInterruptedError } from '../layout/errors.js';
import { KeySpace } from '../layout/keys.js';
import { requirePrimary } from '../layout/primary.js';
import type { LiveBoard } from '../layout/types.js';
import { defineScripts, READ_SCRIPTS, type ReadReply } from '../lua/scripts.js';
import { BoardLocator } from './board-locator.js';
import {
  byText,
  pagesOf,
  viewsStepOf,
  type ViewsPage,
  type ViewsStep,
  type ViewSummary,
} from './existing-views.js';
import {
  anchorAt,
  boundsOf,
  MOST_COUNTED,
  MOST_PLAYERS,
  MOST_REQUESTS,
  patternOf,
  requirePlayerId,
  valuesOf,
  whole,
  type DenseOption,
  type PlaceRequest,
} from './read-requests.js';
import {
  histogramOf,
  playerStandingOf,
  placesOf,
  playersOf,
  standingsOf,
  type PlacesReply,
  type PlayerStanding,
  type Standings,
} from './standings.js';
import { walkView, type ViewReads } from './view-reads.js';
import {
  encodeCursor,
  pageEndOf,
  scanCursor,
  selectedView,
  type Anchor,
  type Bounds,
  type ViewSelection,
} from './view-selection.js';

const REACH_TIME_WIDTH = { earliest: 7, latest: 7, none: 0 } as const;

export interface ReaderOptions {
  readonly redis: Redis;
  /** RANKLOG_REDIS_PREFIX of the service; by default `ranklog`. */
  readonly prefix?: string | undefined;
  /** A snapshot to read instead of live generations. */
  readonly generation?: string | undefined;
}

/** How many players Redis may read to count dense ranks; by default MOST_COUNTED, if they are asked for. */
interface CountOption {
  readonly mostCounted?: number | undefined;
}
interface Page extends ReadableView, DenseOption, CountOption {
  readonly anchor: Anchor;
  readonly limit: number;
  /** By default any score. */
  readonly bounds?: Bounds;
}
/** A number of keys, the keys and the arguments of lua/includes/places.lua. */
type PlaceArguments = readonly [number, ...(string | number)[]];

/**
 * Reads boards from code that can reach Redis. A read takes one trip to Redis; two more if it is the first of its board, one more
 * if a new generation has gone live. Expired views are never read, swept or not. Rejects with the errors that this package exports.
 * Costs are those in Redis: N is the number of players in the view; among k players with an equal first column, a place can
 * cost O(log k log N).
 */
export class BoardReader implements ViewReads {
  readonly #redis: Redis;
  readonly #keys: KeySpace;
  #boards: BoardLocator;

  constructor({ redis, prefix = 'ranklog', generation }: ReaderOptions) {
    this.#redis = redis;
    this.#keys = new KeySpace(prefix);
    this.#boards = new BoardLocator(redis, this.#keys, generation);
    defineScripts(redis, READ_SCRIPTS);
  }

  /** The live boards with their definitions, sorted by name. Cost: two requests, and at most five per shard. */
  async boards(): Promise<LiveBoard[]> {
    const live = await this.#boards.live();
    await requirePrimary(this.#redis);
    return live;
  }

  /** A live board with its definition. Cost: two requests. */
  async board(board: string): Promise<LiveBoard> {
    return this.#boards.locate(board);
  }

  /**
   * The views that have players, about 10,000 per page, each page sorted by text. A view that exists during the whole listing
   * appears once; a view that begins or ends meanwhile may be missing. `after` is the cursor `next` of a page of an earlier
   * listing, which goes on behind it, and may repeat views of that page. @throws ListingInterruptedError, InvalidReadError
   */
  viewPages(board: string, after?: string): AsyncGenerator<ViewsPage> {
    return pagesOf(board, (cursor) => this.#viewsFrom(board, cursor), after);
  }

  /** All views in one list, sorted by text: for boards whose views fit in memory. */
  async views(board: string): Promise<ViewSummary[]> {
    const found: ViewSummary[] = [];
    for await (const { views } of this.viewPages(board)) for (const view of views) found.push(view);
    return found.sort(byText);
  }

  /**
   * All players of all views, or of the views with these names: each view from the top in pages of 1,000 players, read by cursor as
   * `standings` reads them, while scores move. Reads a page when the caller asks for it; holds the names of up to 10,000 views.
   * Without views there is one page, without a view: a board without players may be `stale`, too.
   * Rejects with ListingInterruptedError if another generation goes live meanwhile, and with ExpiredViewError if a view expires
   * before its last page is read. Cost: the listing of the views, and a request of O(log N + 1,000) per page.
   */
  async *export(board: string, names?: readonly string[]): AsyncGenerator<Standings> {
    const reader = new BoardReader({ redis: this.#redis, prefix: this.#keys.prefix });
    reader.#boards = this.#boards.pinned();
    const heads = names?.map((view) => reader.standings(board, { view, limit: 0 }));
    const named = heads && [{ stale: false, views: await Promise.all(heads) }];
    for await (const { stale, views } of named ?? reader.viewPages(board)) {
      if (views.length === 0) yield { board, view: '', version: 0, stale, size: 0, entries: [] };
      for (const { view } of views) yield* walkView(reader, board, { view, most: Infinity });
    }
  }

  /**
   * A page of a view: from the top, from a rank, or after another page. A walk by cursor shows a player exactly once if he stays
   * on the same side of each page's last player while the pages are read. Another one may appear twice, or not at all.
   * Cost: O(log N + limit).
   */
  standings: ViewReads['standings'] = async (board, request = {}) => {
    const { from, after, scores, dense } = request;
    const limit = whole('limit', request.limit ?? 100, 0, MOST_PLAYERS);
    const position = whole('from', from ?? 1, 1, Number.MAX_SAFE_INTEGER) - 1;
    if (after !== undefined && from !== undefined)
      throw new InvalidReadError('after', 'excludes from; leave out one of them');
    const page = await this.#page(board, (live) => {
      const bounds = boundsOf(live, scores);
      if (after === undefined) {
        const readable = selectedView(live, request);
        return { ...readable, anchor: ['position', position], limit, bounds, dense };
      }
      const { end, readable } = pageEndOf(live, after);
      if (scores !== undefined && bounds.join() !== end.bounds.join())
        throw new InvalidReadError(
          'scores',
          'differ from those of the page before; leave them out',
        );
      const anchor = ['behind', end.playerId, end.state] as const;
      return { ...readable, anchor, limit, bounds: end.bounds, dense };
    });
    return standingsOf(page);
  };

  /** The number of players in a view, or of those with such scores. Cost: O(log N). */
  count: ViewReads['count'] = async (board, request = {}) => {
    const { size, count = size } = await this.standings(board, { ...request, limit: 0 });
    return count;
  };

  /** A player's place, and with `gaps` those of the players just in front and just behind. Cost: O(log N). */
  player: ViewReads['player'] = async (board, playerId, request = {}) => {
    const { dense = false, gaps = false } = request;
    requirePlayerId(playerId);
    if (!dense && !gaps) {
      const { entries, ...head } = await this.#places(board, [playerId], request);
      return { ...head, playerId, standing: entries[0] ?? null };
    }
    const anchor = ['player', playerId, gaps ? 1 : 0] as const;
    const page = await this.#pageAt(board, request, anchor, gaps ? 3 : 1);
    return playerStandingOf(page, { playerId, gaps });
  };

  /** The players around a player: a page, shifted at the ends of the view; empty if the player is not in it. Cost: O(log N + page). */
  around: ViewReads['around'] = async (board, playerId, request = {}) => {
    const { above = 5, below = 5 } = request;
    requirePlayerId(playerId);
    whole('above', above, 0, MOST_PLAYERS);
    whole('below', below, 0, MOST_PLAYERS);
    const limit = whole('above + 1 + below', above + 1 + below, 1, MOST_PLAYERS);
    return standingsOf(await this.#pageAt(board, request, ['player', playerId, above], limit));
  };

  /** Players by id, such as friends or a guild: at most 1,000. Cost: O(log N) per id. */
  players: ViewReads['players'] = async (board, playerIds, selection = {}) => {
    const ids = [...new Set(playerIds)];
    whole('number of players', ids.length, 1, MOST_PLAYERS);
    ids.forEach(requirePlayerId);
    const { entries, ...head } = await this.#places(board, ids, selection);
    const found = new Set(entries.map(({ playerId }) => playerId));
    return {
      ...head,
      entries: entries.map((entry, index) => ({ ...entry, position: index + 1 })),
      missing: ids.filter((id) => !found.has(id)),
    };
  };

  /**
   * One player on several boards or views, at most 100, in the order of the requests. Cost: as `player`, all in one trip; their dense
   * ranks together cost as those of one.
   */
  playerOn: ViewReads['playerOn'] = async (playerId, requests) => {
    whole('number of requests', requests.length, 0, MOST_REQUESTS);
    const dense = requests.filter((request) => request.dense).length;
    const share: CountOption = { mostCounted: Math.floor(MOST_COUNTED / Math.max(1, dense)) };
    const reads = requests.map(({ board, ...request }) =>
      this.player(board, playerId, { ...request, ...share }),
    );
    return Promise.all(reads);
  };

  /**
   * A player's places in the views to which a score event belongs, whether it changed them or not; none for an event that the board
   * refuses. Leaves out expired views. `time`, in ms, is that of an event without `occurredAt`.
   * Cost: as `board`, then as `player` for each view, all in one trip.
   */
  async placesOfEvent(event: ScoreEvent, time = Date.now()): Promise<PlayerStanding[]> {
    const { board, playerId } = event;
    const { definition } = await this.board(board);
    const decoded = decodeText(JSON.stringify(event));
    const resolved = decoded.ok ? resolveEvent(definition, decoded.event, time) : decoded;
    if (!resolved.ok) return [];
    const reads = resolved.event.views.map(({ view }) =>
      this.player(board, playerId, { view }).catch((error: unknown) => {
        if (error instanceof ExpiredViewError) return [];
        throw error;
      }),
    );
    return (await Promise.all(reads)).flat();
  }

  /** The rank that a score would have: the values of all columns, or of the only one. Cost: O(log N). */
  rankOf: ViewReads['rankOf'] = async (board, score, selection = {}) => {
    const { definition, head, first, entries } = await this.#page(board, (live) => {
      const state = valuesOf(live, score).map((value) => ({ value, time: 0, settled: true }));
      const anchor = ['columns', stateBytes(state)] as const;
      return { ...selectedView(live, selection), anchor, limit: 1 };
    });
    const [found] = entries; // the first player who is not better
    const columns = decimalColumns(definition, valuesOf(definition, score));
    const isTied = found !== undefined && isDeepStrictEqual(found.columns, columns);
    const tied = isTied ? head.size - found.aheadOf - first : 0;
    return { ...head, rank: first + 1, tied };
  };

  /** The player at a rank, or the last of the best `percent`, as a page of one; empty if there is none. Cost: O(log N). */
  at: ViewReads['at'] = async (board, asked, request = {}) =>
    standingsOf(await this.#pageAt(board, request, anchorAt(asked), 1));

  /** How many players have which scores, for plots. Cost: O(log N) per bucket. */
  histogram: ViewReads['histogram'] = async (board, request = {}) => {
    const buckets = whole('buckets', request.buckets ?? 20, 1, 1_000);
    const [reply, definition, { view }] = await this.#read(
      board,
      (live) => selectedView(live, request),
      (args, live) =>
        this.#redis.ranklogHistogramBuffer(...args, buckets, ...boundsOf(live, request.scores)),
    );
    return histogramOf(definition, view, reply.words);
  };

  /**
   * A step of a search for players whose id contains a text, in either case of ASCII letters. There is no index: a step looks at
   * about 1,000 players and returns the cursor of the next one, maybe without entries. A player who is in the view during the
   * whole search is found, maybe more than once. Cost: 1,000 players, and O(log N) per player found.
   */
  search: ViewReads['search'] = async (board, text, { after, ...selection } = {}) => {
    const pattern = patternOf(text);
    const [at, server, cursor] = after === undefined ? [undefined, '', '0'] : scanCursor(after);
    const [{ words, states }, definition, { view }] = await this.#read(
      board,
      (live) => selectedView(live, at === undefined ? selection : { view: at }),
      (args, { ties }) =>
        this.#redis.ranklogSearchBuffer(...args, TIE_SIGNS[ties], cursor, pattern),
    );
    const [nowOn = '', nextCursor = '', ...found] = words;
    if (server !== '' && server !== nowOn)
      throw new InvalidReadError('after', 'the cursor is of another Redis server; search again');
    const next = nextCursor === '0' ? {} : { next: encodeCursor([view, nowOn, nextCursor]) };
    return { ...playersOf(definition, view, { words: found, states }), ...next };
  };

  async #places(board: string, ids: readonly string[], selection: ViewSelection) {
    const [reply, definition, { view }] = await this.#read(
      board,
      (live) => selectedView(live, selection),
      (args, { ties }) => this.#redis.ranklogPlayersBuffer(...args, TIE_SIGNS[ties], ...ids),
    );
    return playersOf(definition, view, reply);
  }

  #pageAt(board: string, request: PlaceRequest, anchor: Anchor, limit: number) {
    const { dense, mostCounted }: DenseOption & CountOption = request;
    const own = { anchor, limit, dense, mostCounted };
    return this.#page(board, (live) => ({ ...selectedView(live, request), ...own }));
  }

  async #page(board: string, pageOf: (definition: BoardDefinition) => Page) {
    const [reply, definition, { view, bounds }] = await this.#read(
      board,
      (live) => {
        const page = pageOf(live);
        const { anchor, bounds: [best] = [''], mostCounted = MOST_COUNTED } = page;
        const isTop = anchor[0] === 'position' && anchor[1] === 0 && best === '';
        return { ...page, mostCounted: page.dense === true || isTop ? mostCounted : 0 };
      },
      (args, { ties }, { anchor, limit, bounds = ['', ''] }) =>
        this.#redis.ranklogPageBuffer(...args, TIE_SIGNS[ties], ...bounds, limit, ...anchor),
    );
    return { ...placesOf(definition, view, reply), bounds };
  }

  /** Calls a script for one view. Returns its reply, with the definition and the view that were read. */
  async #read<Asked extends ReadableView & CountOption>(
    board: string,
    viewOf: (definition: BoardDefinition) => Asked,
    call: (args: PlaceArguments, live: BoardDefinition, asked: Asked) => Promise<ReadReply>,
  ): Promise<[PlacesReply, BoardDefinition, Asked]> {
    const [reply, { definition }, asked] = await this.#boards.read(
      board,
      viewOf,
      (located, found) => {
        const { shard, generation, definition } = located;
        const args = [
          ...this.#boards.arguments(located, this.#keys.ofView(shard, generation, found.view)),
          ...[found.view, found.expiresAt ?? '-', definition.columns.length],
          ...[REACH_TIME_WIDTH[definition.ties], found.mostCounted ?? 0],
        ] as const;
        return call(args, definition, found);
      },
    );
    if (!Array.isArray(reply))
      throw new ExpiredViewError(board, asked.view, asked.expiresAt ?? Infinity, Number(reply));
    const [lines = '', states = Buffer.alloc(0)] = reply;
    const words = lines.toString().split('\n');
    return [{ words, states: readStates(states, definition.columns.length) }, definition, asked];
  }

  /** Reads one step of a listing, then the sizes of its views. A view that is swept in between has size 0 and is left out. */
  async #viewsFrom(board: string, cursor: string): Promise<ViewsStep> {
    const [reply, { shard, generation }] = await this.#boards.read(
      board,
      () => undefined,
      (located) => this.#boards.viewsFrom(located, cursor),
    );
    const step = viewsStepOf(reply, generation);
    const sizes = await Promise.all(
      step.views.map(({ view }) => this.#redis.zcard(this.#keys.ranking(shard, generation, view))),
    );
    if (sizes.includes(0) && (await this.#boards.locate(board)).generation !== generation)
      throw new ListingInterruptedError(board);
    const sized = step.views.map((view, index) => ({ ...view, size: sizes[index] ?? 0 }));
    return { ...step, views: sized.filter(({ size }) => size > 0) };
  }
}
