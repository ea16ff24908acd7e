import {
  canExpire,
  definitionHash,
  definitionText,
  isPublished,
  type BoardDefinition,
  type ResolvedView,
} from '#board';
import type { DefinitionRecord } from '#contracts';
import { identityIn, readBoards, startsText } from '../layout/boards.js';
import type { Boards } from '../layout/generation-types.js';
import { IdentityCheck, REDIS } from '../layout/identity-check.js';
import type { KeySpace } from '../layout/keys.js';
import { statesOfPlayers } from '../layout/player-states.js';
import { partsOf, readHash } from '../layout/scans.js';
import { largestOf, ShardedStore } from '../layout/sharded-store.js';
import { BoardBuildingError, UnknownBoardError } from '../layout/store-errors.js';
import type {
  ApplyCall,
  ApplyOutcome,
  ApplyRefusal,
  LiveBoard,
  ServerMemory,
  Starts,
} from '../layout/types.js';
import { refusalOf } from '../lua/scripts.js';
import { applyArguments } from './run-arguments.js';
import { parseVerdicts } from './verdicts.js';
import type { Redis } from 'ioredis';
import { primariesOf, type RedisClient } from '../layout/redis-client.js';

/** The most expired views that one sweep removes from a board. The bound keeps its script short. */
const MOST_SWEPT = 100;

/** Writes to the boards in Redis. Every method may be repeated after a lost reply. */
export class BoardStore extends ShardedStore {
  #boards: Boards | undefined;
  readonly #identity: IdentityCheck;

  constructor(
    redis: RedisClient,
    keys: KeySpace,
    options: { readonly shards: number; readonly identity?: IdentityCheck | undefined },
  ) {
    super(redis, keys, options);
    this.#identity = options.identity ?? new IdentityCheck({ shards: options.shards });
  }

  get shards(): number {
    return this.allShards.length;
  }

  /** The shard that handles those records of a partition that belong to no board. */
  homeShard(partition: number): number {
    return partition % this.shards;
  }

  /**
   * Checks that no other ranklog has claimed Redis.
   * @throws OtherIdentityError
   */
  async check(): Promise<void> {
    const shards = await this.redis.get(this.keys.shards());
    if (shards !== null) {
      const stored = JSON.stringify({ shards: Number(shards) });
      this.#identity.compare(stored, REDIS);
    }
    await this.boards();
  }

  /**
   * Claims each shard for this ranklog. With `moves`, also takes over the shards of another ranklog
   * that has the same number of shards.
   * @throws OtherIdentityError
   */
  async claim({ moves = false } = {}): Promise<void> {
    const { keys, redis } = this;
    if (!moves) await this.check();
    for (const shard of this.allShards) {
      const identity = this.#identity.text;
      const live = keys.live(shard);
      const stored = await redis.ranklogClaim({ live, identity, moves: Number(moves) });
      this.#identity.compare(stored, REDIS);
    }
    await redis.set(keys.shards(), this.shards);
  }

  /**
   * Makes new boards live, in parts: a shard counts as registered after its last part. If the shard
   * has applied offsets, a new board becomes `building`, because it may lack events. `current` are
   * the definition records of Kafka; `begins` are the starts of boards without such a record.
   * `unreadable` are boards whose definitions are unknown: if Redis lacks such a board, it becomes
   * `building`, so that its events wait.
   */
  async registerBoards(
    definitions: readonly BoardDefinition[],
    current: ReadonlyMap<string, DefinitionRecord> = new Map(),
    begins: Starts = new Map(),
    unreadable: readonly string[] = [],
  ): Promise<Boards> {
    const wanted = new Set(definitions.map(({ board }) => board));
    const removed = [...current.values()]
      .filter(({ board, definition }) => definition === null && !wanted.has(board))
      .map(({ board }) => board);

    for (const shard of this.allShards) {
      const isHere = (board: string) => this.shardOf(board) === shard;
      const known = definitions
        .filter(({ board }) => isHere(board))
        .map((definition) => registration(definition, current.get(definition.board), begins));
      const unknown = unreadable.filter(isHere).map(registrationOfUnknown);
      await this.#registerShard(shard, [...known, ...unknown], removed.filter(isHere));
    }
    return this.boards();
  }

  async #registerShard(
    shard: number,
    registrations: readonly Registration[],
    removed: readonly string[],
  ): Promise<void> {
    const { keys } = this;
    const boardParts = partsOf(registrations);
    const removedParts = partsOf(removed);
    const parts = Math.max(boardParts.length, removedParts.length, 1);

    for (let part = 0; part < parts; part += 1) {
      const boards = boardParts[part] ?? [];
      await this.redis.ranklogRegister({
        live: keys.live(shard),
        appliedOffsets: keys.appliedOffsets(shard),
        definitions: keys.definitions(shard),
        registered: keys.registered(shard),
        starts: keys.starts(shard),
        promotions: keys.promotions(shard),
        removed: keys.removed(shard),
        isLast: Number(part === parts - 1),
        earlierBoards: boardParts.slice(0, part).flat().length,
        boardCount: boards.length,
        boards: boards.flat(),
        removedBoards: removedParts[part] ?? [],
      });
    }
  }

  /**
   * When the pointer of each board last moved: a time in us of Redis' clock.
   * Cost: two requests per shard, more with thousands of boards.
   */
  async promotions(): Promise<Map<string, number>> {
    const shards = await this.perShard((shard) =>
      readHash(this.redis, this.keys.promotions(shard)),
    );
    const promotions = new Map<string, number>();
    for (const shard of shards)
      for (const [board, promotion] of shard) promotions.set(board, Number(promotion));
    return promotions;
  }

  /** Whether the boards of all shards have been registered. */
  async areRegistered(): Promise<boolean> {
    const found = await this.perShard((shard) => this.redis.get(this.keys.registered(shard)));
    return found.every((registered) => registered !== null);
  }

  /**
   * The boards; the same object until they change.
   * Cost: one request per shard. If boards have changed, seven more per shard, more with thousands
   * of boards.
   * @throws OtherIdentityError
   */
  async boards(): Promise<Boards> {
    const boards = await readBoards(this.redis, this.keys, this.allShards, this.#boards);
    for (const version of boards.versions) this.#identity.compare(identityIn(version), REDIS);
    this.#boards = boards;
    return boards;
  }

  /**
   * The live generation of a board.
   * Cost: as `boards`.
   * @throws UnknownBoardError, BoardBuildingError, OtherIdentityError
   */
  async liveBoard(board: string): Promise<LiveBoard> {
    const { live, building } = await this.boards();
    const found = live.get(board);
    if (found !== undefined) return found;

    if (building.has(board)) throw new BoardBuildingError(board);
    throw new UnknownBoardError(board, [...live.keys()].sort());
  }

  /** The applied offset of a partition in each shard, -1 for none. */
  async appliedOffsets(partition: number): Promise<number[]> {
    const found = await this.perShard((shard) =>
      this.redis.hget(this.keys.appliedOffsets(shard), String(partition)),
    );
    return found.map((offset) => Number(offset ?? -1));
  }

  /** By partition, the published position that Redis stores. */
  async publishedPositions(): Promise<Map<number, number>> {
    const found = await this.perShard((shard) => this.redis.hgetall(this.keys.published(shard)));
    return largestOf(found);
  }

  /**
   * Whether the outbox has verdicts of records from the published position to below an offset:
   * these may be unpublished.
   * Cost: linear in the outbox.
   */
  async hasUnpublished(partition: number, below: number): Promise<boolean> {
    for (const shard of this.allShards) {
      const published = await this.redis.hget(this.keys.published(shard), String(partition));
      const from = Number(published ?? 0);
      const members = await this.redis.zrangeBuffer(this.keys.outbox(shard, partition), 0, -1);
      const offsets = parseVerdicts(members).map(({ offset }) => offset);
      if (offsets.some((offset) => offset >= from && offset < below)) return true;
    }
    return false;
  }

  /** Applies a call atomically. Returns the verdicts to publish: see lua/commands/apply-7.lua. */
  async apply(call: ApplyCall): Promise<ApplyOutcome> {
    const reply = await this.redis.ranklogApplyBuffer(applyArguments(this.keys, call));
    if (!Array.isArray(reply)) return { status: refusalOf(reply) as ApplyRefusal };

    const [appliedOffset, published, ...members] = reply;
    const from = Math.max(call.from, Number(published));
    const verdicts = parseVerdicts(members)
      .filter(({ offset }) => offset >= from && offset <= call.through)
      .sort((a, b) => a.offset - b.offset);
    return { status: 'applied', appliedOffset: Number(appliedOffset), verdicts };
  }

  /** By player, the views of a generation in which the player has a state: see statesOfPlayers. */
  async viewsOfPlayers(
    { board, generation, definition }: LiveBoard,
    playerIds: readonly string[],
  ): Promise<Map<string, ResolvedView[]>> {
    const place = { shard: this.shardOf(board), generation };
    const found = await statesOfPlayers(this.redis, this.keys, place, playerIds);

    const viewsOf = new Map<string, ResolvedView[]>();
    for (const [playerId, states] of found) {
      // These views exist, so Redis already knows when they expire.
      const views = states.map(({ view }) => ({
        view,
        expiresAt: null,
        published: isPublished(definition, view),
      }));
      viewsOf.set(playerId, views);
    }
    return viewsOf;
  }

  /**
   * Removes some of the expired views and returns how many. Returns 0 if the generation is neither
   * live nor a shadow.
   */
  async sweep({ board, generation, definition }: LiveBoard): Promise<number> {
    if (!canExpire(definition)) return 0;

    const { keys } = this;
    const shard = this.shardOf(board);
    const clock = await this.redis.hget(keys.facts(shard, generation), 'clock');
    if (clock === null) return 0;

    const expiries = keys.expiries(shard, generation);
    const views = await this.redis.zrangebyscore(expiries, '-inf', clock, 'LIMIT', 0, MOST_SWEPT);
    if (views.length === 0) return 0;

    return this.redis.ranklogSweep({
      live: keys.live(shard),
      shadows: keys.shadows(shard),
      views: keys.views(shard, generation),
      facts: keys.facts(shard, generation),
      expiries,
      leaders: keys.leaders(shard, board),
      rankingsAndPlayers: views.flatMap((view) => keys.ofView(shard, generation, view)),
      board,
      generation,
      expiredViews: views,
    });
  }

  /** The memory of the server. In a cluster: of the primary that has the least memory left. */
  async memory(): Promise<ServerMemory> {
    const servers = await Promise.all(primariesOf(this.redis).map(memoryOf));
    return servers.reduce((least, server) =>
      bytesLeft(server) < bytesLeft(least) ? server : least,
    );
  }
}

/** The items of `boards` in lua/commands/register-7.lua for one board. */
type Registration = readonly [
  board: string,
  hash: string,
  definition: string,
  starts: string,
  since: number,
];

/** `begins` are the starts of a board without a definition record. */
function registration(
  definition: BoardDefinition,
  record: DefinitionRecord | undefined,
  begins: Starts,
): Registration {
  const { starts, since } = record ?? { starts: begins, since: 0 };
  const isWholeLog = starts === undefined || starts.size === 0;
  return [
    definition.board,
    definitionHash(definition),
    definitionText(definition),
    startsText(isWholeLog ? undefined : starts),
    since,
  ];
}

function registrationOfUnknown(board: string): Registration {
  return [board, '', '', '', 0];
}

/** The bytes that a server has left below its maxmemory. */
function bytesLeft({ used, most }: ServerMemory): number {
  return most === 0 ? Infinity : most - used;
}

async function memoryOf(server: Redis): Promise<ServerMemory> {
  const info = await server.info('memory');
  const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return { used: bytes('used_memory'), most: bytes('maxmemory') };
}
