import { isDeepStrictEqual } from 'node:util';
import { decimalColumns, EARLIEST_TIME, resolveEvent, stateBytes } from '#board';
import { decodeText, type ScoreEvent } from '#contracts';
import { parseBan, scanBans, type BanEntry } from '../layout/ban-register.js';
import { offsetsOf } from '../layout/boards.js';
import { KeySpace } from '../layout/keys.js';
import { statesOfPlayers } from '../layout/player-states.js';
import { requirePrimary } from '../layout/redis-client.js';
import { ExpiredViewError, InvalidReadError } from '../layout/store-errors.js';
import type { LiveBoard } from '../layout/types.js';
import {
  bansPage,
  keptState,
  latestFirst,
  type BansPage,
  type BansRequest,
  type KeptState,
} from './bans.js';
import { BoardLocator } from './board-locator.js';
import { byText, type ViewsPage, type ViewSummary } from './existing-views.js';
import { PagedReads } from './paged-reads.js';
import { ReadCommands, type Page } from './read-commands.js';
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
  type PlaceRequest,
  type PlayerRequest,
} from './read-requests.js';
import {
  playerStandingOf,
  standingsOf,
  type PlayerStanding,
  type Standings,
} from './standings-reply.js';
import { walkView, type ViewReads } from './view-reads.js';
import {
  checkDimensions,
  encodeCursor,
  requireList,
  scanCursor,
  selectedView,
  type ViewSelection,
} from './view-selection.js';
import type { RedisClient } from '../layout/redis-client.js';

export interface ReaderOptions {
  readonly redis: RedisClient;
  /** RANKLOG_REDIS_PREFIX of the service; by default `ranklog`. */
  readonly prefix?: string | undefined;
  /** A snapshot to read instead of live generations. */
  readonly generation?: string | undefined;
}

/**
 * Reads boards in code that can reach Redis. A read takes one trip to Redis. The first read of a
 * board takes two more, and the first read after a new generation went live takes one more. Expired
 * views are never read, even if Redis still has them. Rejects with the errors that this package
 * exports.
 *
 * Costs are those in Redis. N is the number of players in the view. Among k players with an equal
 * first column, a place can cost O(log k log N).
 */
export class BoardReader implements ViewReads {
  readonly #redis: RedisClient;
  readonly #keys: KeySpace;
  readonly #locator: BoardLocator;
  readonly #commands: ReadCommands;
  readonly #pages: PagedReads;

  /**
   * Only ranklog itself passes `shards`, the number of shards. Other readers read it from Redis.
   */
  constructor({ redis, prefix = 'ranklog', generation }: ReaderOptions, shards?: number) {
    const keys = new KeySpace(prefix);
    this.#redis = redis;
    this.#keys = keys;
    this.#commands = new ReadCommands(redis, keys, generation);
    const choice = shards === undefined ? undefined : { shards };
    this.#locator = new BoardLocator(redis, keys, this.#commands, { choice });
    this.#pages = new PagedReads(this.#locator, this.#commands);
  }

  /**
   * The live boards with their definitions, sorted by name.
   * Cost: two requests, and at most eight per shard, more with thousands of boards.
   */
  async boards(): Promise<LiveBoard[]> {
    const live = await this.#locator.live();
    await requirePrimary(this.#redis);
    return live;
  }

  /**
   * A live board with its definition.
   * Cost: two requests.
   */
  async board(board: string): Promise<LiveBoard> {
    return this.#locator.locate(board);
  }

  /**
   * The views that have players, about 10,000 per page, each page sorted by text. A view that
   * exists during the whole listing appears once. A view that begins or ends meanwhile may be
   * missing. `after` is the cursor `next` of a page of an earlier listing: this listing continues
   * after that page, and may repeat views of it.
   * @throws ListingInterruptedError, InvalidReadError
   */
  viewPages(board: string, after?: string): AsyncGenerator<ViewsPage> {
    return this.#pages.views(board, after);
  }

  /** All views in one list, sorted by text: for boards whose views fit in memory. */
  async views(board: string): Promise<ViewSummary[]> {
    const found: ViewSummary[] = [];
    for await (const page of this.viewPages(board)) found.push(...page.views);
    return found.sort(byText);
  }

  /**
   * All players of all views, or of the views with these names. Each view comes from the top, in
   * pages of 1,000 players. Like `standings`, it reads the pages by cursor, so scores may change
   * meanwhile. It reads a page when the caller asks for it, and holds the names of up to 10,000
   * views. For a board without views, it returns one page without a view, because the board may be
   * `stale`, too.
   * Cost: the listing of the views, and a request of O(log N + 1,000) per page.
   * @throws ListingInterruptedError if another generation goes live meanwhile
   * @throws ExpiredViewError if a view expires before its last page is read
   */
  async *export(board: string, names?: readonly string[]): AsyncGenerator<Standings> {
    const pages = new PagedReads(this.#locator.pinned(), this.#commands);
    const lists =
      names === undefined ? pages.views(board) : [await namedViews(pages, board, names)];
    for await (const { stale, views } of lists) {
      if (views.length === 0) yield { board, view: '', version: 0, stale, size: 0, entries: [] };
      for (const { view } of views) yield* walkView(pages, board, { view, most: Infinity });
    }
  }

  /**
   * A page of a view: from the top, from a rank, or after another page. While pages are read by
   * cursor, a player who moves past the end of a page may appear twice, or not at all. All other
   * players appear exactly once.
   * Cost: O(log N + limit).
   */
  standings: ViewReads['standings'] = (board, request) => this.#pages.standings(board, request);

  /**
   * The number of players in a view; with `scores`, of the players in this range.
   * Cost: O(log N).
   */
  count: ViewReads['count'] = async (board, request = {}) => {
    const { size, count = size } = await this.standings(board, { ...request, limit: 0 });
    return count;
  };

  /**
   * A player's place; with `gaps`, also the places of the players just in front and just behind.
   * Cost: O(log N).
   */
  player: ViewReads['player'] = (board, playerId, request = {}) =>
    this.#player(board, playerId, request);

  /**
   * A page of the players around a player. At the ends of the view it is shifted, so that it stays
   * full. It is empty if the player is not in the view.
   * Cost: O(log N + page).
   */
  around: ViewReads['around'] = async (board, playerId, request = {}) => {
    const { above = 5, below = 5 } = request;
    requirePlayerId(playerId);
    whole('above', above, 0, MOST_PLAYERS);
    whole('below', below, 0, MOST_PLAYERS);
    const limit = whole('above + 1 + below', above + 1 + below, 1, MOST_PLAYERS);
    const page = { anchor: ['player', playerId, above], limit } as const;
    return standingsOf(await this.#placesFrom(board, request, page));
  };

  /**
   * Players by id, such as friends or a guild: at most 1,000.
   * Cost: O(log N) per id.
   */
  players: ViewReads['players'] = async (board, playerIds, selection = {}) => {
    requireList('playerIds', playerIds);
    const ids = [...new Set(playerIds)];
    whole('number of players', ids.length, 1, MOST_PLAYERS);
    ids.forEach(requirePlayerId);

    const { entries, ...head } = await this.#players(board, ids, selection);
    const found = new Set(entries.map(({ playerId }) => playerId));
    return {
      ...head,
      entries: entries.map((entry, index) => ({ ...entry, position: index + 1 })),
      missing: ids.filter((id) => !found.has(id)),
    };
  };

  /**
   * One player on several boards or in several views, at most 100, in the order of the requests.
   * Cost: as `player` for each, all in one trip. All dense ranks together cost as much as one.
   */
  playerOn: ViewReads['playerOn'] = async (playerId, requests) => {
    requireList('requests', requests);
    whole('number of requests', requests.length, 0, MOST_REQUESTS);

    const denseRequests = requests.filter((request) => request.dense).length;
    const share = Math.floor(MOST_COUNTED / Math.max(1, denseRequests));
    const reads = requests.map(({ board, ...request }) =>
      this.#player(board, playerId, request, share),
    );
    return Promise.all(reads);
  };

  /**
   * Whether reads of a board may lack records: Redis lost events, or may have lost some, and they
   * are not applied again yet. Reads of views return this as `stale`.
   * Cost: reads about 1,000 views.
   */
  async isStale(board: string): Promise<boolean> {
    return this.#locator.read(board, async (located) => {
      const { stale } = await this.#commands.views(located, '0');
      return stale;
    });
  }

  /**
   * A page of the players who are banned or erased on a board. The latest ban or erasure comes
   * first.
   * Cost: as `allBans`, and as `isStale`.
   */
  async bans(board: string, { limit = 100, after }: BansRequest = {}): Promise<BansPage> {
    whole('limit', limit, 1, MOST_PLAYERS);
    // Read this first: if the board is not stale, the ban register that is read next is complete.
    const stale = await this.isStale(board);
    const bans = await this.allBans(board);
    return { board, stale, ...bansPage(bans, limit, after) };
  }

  /**
   * All players who are banned or erased on a board, in one list. The latest ban or erasure comes
   * first.
   * Cost: linear in all bans, unbans and erasures.
   */
  async allBans(board: string): Promise<BanEntry[]> {
    const { generation, shard } = await this.#locator.locate(board);
    const found: BanEntry[] = [];
    for await (const page of scanBans(this.#redis, this.#keys.bans(shard, generation)))
      for (const { entry } of page) {
        if (entry.kind !== 'unbanned') found.push(entry);
      }
    return found.sort(latestFirst);
  }

  /**
   * The ban, unban or erasure that counts for a player on a board; null if there is none, or if
   * Redis lost it and it is not applied again yet (`isStale`). It begins to count a moment before
   * the player has left all views, or is back in them. `appliedOffsets` shows whether its record is
   * applied.
   * Cost: O(1).
   */
  async ban(board: string, playerId: string): Promise<BanEntry | null> {
    requirePlayerId(playerId);
    const { generation, shard } = await this.#locator.locate(board);
    const text = await this.#redis.hget(this.#keys.bans(shard, generation), playerId);
    return text === null ? null : parseBan(playerId, text);
  }

  /**
   * By partition of the score topic, the last offset whose record is applied to a board. A record
   * is applied once this is as large as the offset that `send` returned for it.
   * Cost: linear in the partitions.
   */
  async appliedOffsets(board: string): Promise<ReadonlyMap<number, number>> {
    return this.#locator.read(board, async ({ shard }) =>
      offsetsOf(await this.#redis.hgetall(this.#keys.appliedOffsets(shard))),
    );
  }

  /**
   * The states that a board keeps of a player in its views. Banned players have states, too.
   * Cost: linear in the views of the board.
   */
  async kept(board: string, playerId: string): Promise<KeptState[]> {
    requirePlayerId(playerId);
    const { definition, ...place } = await this.#locator.locate(board);
    const found = await statesOfPlayers(this.#redis, this.#keys, place, [playerId]);
    return (found.get(playerId) ?? []).map((state) => keptState(definition, state));
  }

  /**
   * The player's places in the views to which a score event belongs, whether it changed them or
   * not. Includes closed windows, leaves out expired views. Returns [] for an event that the board
   * refuses. `time`, in ms, is the time of an event without `occurredAt`.
   * Cost: as `board`, then as `player` for each view, all in one trip.
   */
  async placesOfEvent(event: ScoreEvent, time = Date.now()): Promise<PlayerStanding[]> {
    const { board, playerId } = event;
    const { definition } = await this.board(board);
    const decoded = decodeText(JSON.stringify(event));
    if (!decoded.ok) return [];
    const resolved = resolveEvent(definition, decoded.event, time, EARLIEST_TIME);
    if (!resolved.ok) return [];

    const reads = resolved.event.views.map(({ view }) =>
      this.player(board, playerId, { view }).catch((error: unknown) => {
        if (error instanceof ExpiredViewError) return [];
        throw error;
      }),
    );
    const places = await Promise.all(reads);
    return places.flat();
  }

  /**
   * The rank that a score would have. A score has a value for each column; for a board with one
   * column, the value alone will do.
   * Cost: O(log N).
   */
  rankOf: ViewReads['rankOf'] = (board, score, selection = {}) =>
    this.#locator.read(board, async (located) => {
      const values = valuesOf(located.definition, score);
      const readable = selectedView(located.definition, selection);
      const state = values.map((value) => ({ value, time: 0, settled: true }));
      const anchor = ['columns', stateBytes(state)] as const;
      const page = { ...readable, anchor, limit: 1 };
      const { head, first, entries } = await this.#commands.page(located, page);

      const [firstNotBetter] = entries;
      const columns = decimalColumns(located.definition, values);
      const isTied =
        firstNotBetter !== undefined && isDeepStrictEqual(firstNotBetter.columns, columns);
      const tied = isTied ? head.size - firstNotBetter.aheadOf - first : 0;
      return { ...head, rank: first + 1, tied };
    });

  /**
   * A page of one player: the player at a rank, or the last of the best `percent`. It is empty if
   * there is no such player.
   * Cost: O(log N).
   */
  at: ViewReads['at'] = async (board, asked, request = {}) => {
    const page = { anchor: anchorAt(asked), limit: 1 };
    return standingsOf(await this.#placesFrom(board, request, page));
  };

  /**
   * How many players have which scores, for plots.
   * Cost: O(log N) per bucket.
   */
  histogram: ViewReads['histogram'] = async (board, request = {}) => {
    const buckets = whole('buckets', request.buckets ?? 20, 1, 1_000);
    return this.#locator.read(board, (located) => {
      const readable = selectedView(located.definition, request);
      const bounds = boundsOf(located.definition, request.scores);
      return this.#commands.histogram(located, readable, { buckets, bounds });
    });
  };

  /**
   * A step of a search for players whose id contains a text. ASCII letters match in upper and lower
   * case. There is no index: a step looks at about 1,000 players and returns the cursor of the next
   * step, even if it found no player. A player who is in the view during the whole search is found
   * at least once.
   * Cost: reads 1,000 players, and O(log N) per player found.
   */
  search: ViewReads['search'] = async (board, text, { after, ...selection } = {}) => {
    const pattern = patternOf(text);
    const [viewOfCursor, server, cursor] =
      after === undefined ? [undefined, '', '0'] : scanCursor(after);

    const step = await this.#locator.read(board, (located) => {
      const { definition } = located;
      const view = viewOfCursor === undefined ? selection : { view: viewOfCursor };
      const readable = selectedView(definition, view);
      if (viewOfCursor !== undefined) checkDimensions(definition, viewOfCursor, selection);
      return this.#commands.search(located, readable, { cursor, pattern });
    });
    if (server !== '' && server !== step.server)
      throw new InvalidReadError('after', 'the cursor is of another Redis server; search again');

    if (step.cursor === '0') return step.found;
    const next = encodeCursor([step.found.view, step.server, step.cursor]);
    return { ...step.found, next };
  };

  /** `mostCounted` is the most players that Redis reads to count the dense rank. */
  async #player(
    board: string,
    playerId: string,
    request: PlayerRequest,
    mostCounted?: number,
  ): Promise<PlayerStanding> {
    const { dense = false, gaps = false } = request;
    requirePlayerId(playerId);
    if (!dense && !gaps) {
      const { entries, ...head } = await this.#players(board, [playerId], request);
      return { ...head, playerId, standing: entries[0] ?? null };
    }

    const anchor = ['player', playerId, gaps ? 1 : 0] as const;
    const page = { anchor, limit: gaps ? 3 : 1, mostCounted };
    const places = await this.#placesFrom(board, request, page);
    return playerStandingOf(places, { playerId, gaps });
  }

  #players(board: string, ids: readonly string[], selection: ViewSelection) {
    return this.#locator.read(board, (located) => {
      const readable = selectedView(located.definition, selection);
      return this.#commands.players(located, readable, ids);
    });
  }

  #placesFrom(board: string, request: PlaceRequest, page: PageFrom) {
    const { dense } = request;
    return this.#locator.read(board, (located) => {
      const readable = selectedView(located.definition, request);
      return this.#commands.page(located, { ...readable, ...page, dense });
    });
  }
}

/** The views with these names, as a page of a listing. Rejects if one of them can't be read. */
async function namedViews(pages: PagedReads, board: string, names: readonly string[]) {
  const heads = names.map((view) => pages.standings(board, { view, limit: 0 }));
  return { stale: false, views: await Promise.all(heads) };
}

type PageFrom = Pick<Page, 'anchor' | 'limit' | 'mostCounted'>;
