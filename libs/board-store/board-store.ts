import type { Redis } from 'ioredis';
import { canExpire, definitionHash, definitionText, type BoardDefinition } from '#board';
import { applyArguments } from './apply-arguments.js';
import type { DefinitionRecord } from '#contracts';
import { readBoards, startsText } from './boards.js';
import { BoardBuildingError, UnknownBoardError } from './errors.js';
import { IdentityCheck } from './identity.js';
import type { Boards } from './generation-types.js';
import type { KeySpace } from './keys.js';
import { ShardedStore } from './sharded-store.js';
import type {
  ApplyCall,
  ApplyOutcome,
  BoardFacts,
  LiveBoard,
  ServerMemory,
  Starts,
  Verdict,
} from './types.js';
import { parseVerdicts } from './verdict-text.js';

/** What lua/apply.lua answers when it wrote nothing. */
const REFUSALS: Readonly<Record<number, ApplyOutcome>> = {
  [-1]: { status: 'generationChanged' },
  [-2]: { status: 'rolledBack' },
  [-3]: { status: 'storeChanged' },
  [-4]: { status: 'recovering' },
  [-12]: { status: 'gap' },
};

const REDIS = 'Redis';

/** How many expired views one sweep removes from a board: a short script. Who wants all of them gone sweeps until it answers 0. */
const MOST_SWEPT = 100;

/** Writes to the boards in Redis. Every method may be repeated: a lost reply does no harm. */
export class BoardStore extends ShardedStore {
  /** The boards as last read. */
  #boards: Boards | undefined;
  readonly #identity: IdentityCheck;

  constructor(
    redis: Redis,
    keys: KeySpace,
    options: { readonly shards: number; readonly identity?: IdentityCheck },
  ) {
    super(redis, keys, options);
    this.#identity = options.identity ?? new IdentityCheck({ shards: options.shards });
  }

  get shards(): number {
    return this.allShards.length;
  }

  /** The shard of a partition's records that belong to no board. */
  homeShard(partition: number): number {
    return partition % this.shards;
  }

  /** Checks that no other ranklog has claimed Redis. @throws OtherIdentityError */
  async check(): Promise<void> {
    const shards = await this.redis.get(this.keys.shards());
    if (shards !== null) this.#identity.compare(JSON.stringify({ shards: Number(shards) }), REDIS);
    await this.boards();
  }

  /**
   * Claims each shard for this ranklog. `moves` also takes shards from another ranklog, whose calls are refused from then on.
   * The number of shards must be the same. @throws OtherIdentityError
   */
  async claim({ moves = false } = {}): Promise<void> {
    const { keys, redis } = this;
    if (!moves) await this.check();
    for (const shard of this.allShards) {
      const identity = this.#identity.text;
      const kept = await redis.ranklogClaim(1, keys.live(shard), identity, Number(moves));
      this.#identity.compare(kept, REDIS);
    }
    await redis.set(keys.shards(), this.shards);
  }

  /**
   * Makes boards live that are not, all boards of a shard in one step; the others stay as they are, whatever their
   * definition. One that is new in a shard where events were applied before is `building` from then on: it lacks them.
   * `current` is what was live before Redis was lost: where boards begin in the log, what their promotions come after, and
   * which ones were removed. `begins` is where the log begins for others, which are live at once.
   */
  async registerBoards(
    definitions: readonly BoardDefinition[],
    current: ReadonlyMap<string, DefinitionRecord> = new Map(),
    begins: Starts = new Map(),
  ): Promise<Boards> {
    for (const shard of this.allShards)
      await this.#registerInShard(
        shard,
        definitions.filter(({ board }) => this.shardOf(board) === shard),
        { current, begins },
      );
    return this.boards();
  }

  /** When the pointer of each live board was last moved, in us of Redis' clock. Cost: a short request a shard. */
  async promotions(): Promise<Map<string, number>> {
    const found = await Promise.all(
      this.allShards.map((shard) => this.redis.hgetall(this.keys.promotions(shard))),
    );
    return new Map(
      found.flatMap((promotions) =>
        Object.entries(promotions).map(([board, promotion]) => [board, Number(promotion)] as const),
      ),
    );
  }

  /** Whether the boards of every shard have been made live. */
  async areRegistered(): Promise<boolean> {
    const found = await this.#perShard((shard) => this.redis.get(this.keys.registered(shard)), 0);
    return found.every((registered) => registered === 1);
  }

  /** The boards of all shards; the same object until they change. Cost: one short request a shard, five after a change. @throws OtherIdentityError */
  async boards(): Promise<Boards> {
    const { redis, keys, shards } = this;
    const boards = await readBoards({ redis, keys, shards }, this.#boards);
    for (const version of boards.versions)
      this.#identity.compare(version.replace(/^\d+ ?/, ''), REDIS);
    this.#boards = boards;
    return boards;
  }

  /** The live generation of a board. Cost: as `boards`. @throws UnknownBoardError, BoardBuildingError, OtherIdentityError */
  async liveBoard(board: string): Promise<LiveBoard> {
    const { live, building } = await this.boards();
    const found = live.get(board);
    if (found !== undefined) return found;
    if (building.has(board)) throw new BoardBuildingError(board);
    throw new UnknownBoardError(board, [...live.keys()].sort());
  }

  /** The applied offset of a partition in each shard, -1 for none. */
  async appliedOffsets(partition: number): Promise<number[]> {
    return this.#perShard(
      (shard) => this.redis.hget(this.keys.appliedOffsets(shard), String(partition)),
      -1,
    );
  }

  /** The published position of a partition as Redis remembers it, 0 for none. */
  async publishedPosition(partition: number): Promise<number> {
    const remembered = await this.#perShard(
      (shard) => this.redis.hget(this.keys.published(shard), String(partition)),
      0,
    );
    return Math.max(...remembered);
  }

  /** Whether verdicts of records below an offset are kept, which are not known to be published. Cost: linear in them. */
  async hasUnpublished(partition: number, below: number): Promise<boolean> {
    for (const shard of this.allShards) {
      const published = await this.redis.hget(this.keys.published(shard), String(partition));
      const from = Number(published ?? 0);
      const texts = await this.redis.zrange(this.keys.outbox(shard, partition), 0, -1);
      const offsets = texts.flatMap(parseVerdicts).map(({ offset }) => offset);
      if (offsets.some((offset) => offset >= from && offset < below)) return true;
    }
    return false;
  }

  /** Applies a call in one atomic step and answers the verdicts of its entries: see lua/apply.lua. */
  async apply(call: ApplyCall): Promise<ApplyOutcome> {
    const reply = await this.redis.ranklogApply(...applyArguments(this.keys, call));
    if (!Array.isArray(reply)) {
      const refusal = REFUSALS[reply];
      if (refusal === undefined)
        throw new Error(`lua/apply.lua answered ${reply}, a code that is not known`);
      return refusal;
    }
    const [appliedOffset, ...verdicts] = reply;
    return {
      status: 'applied',
      appliedOffset: Number(appliedOffset),
      verdicts: verdicts.flatMap(parseVerdicts).sort(byOffset),
    };
  }

  /** Gives back the memory of views that have expired, some at a time; answers how many. */
  async sweep({ board, generation, definition }: LiveBoard): Promise<number> {
    if (!canExpire(definition)) return 0;
    const shard = this.shardOf(board);
    const { keys } = this;
    const expiries = keys.expiries(shard, generation);
    const clock = await this.redis.hget(keys.facts(shard, generation), 'clock');
    if (clock === null) return 0;
    const views = await this.redis.zrange(
      expiries,
      '-inf',
      clock,
      'BYSCORE',
      'LIMIT',
      0,
      MOST_SWEPT,
    );
    if (views.length === 0) return 0;
    const allKeys = [
      keys.live(shard),
      keys.shadows(shard),
      keys.views(shard, generation),
      keys.facts(shard, generation),
      expiries,
      keys.leaders(shard, board),
      ...views.flatMap((view) => keys.ofView(shard, generation, view)),
    ];
    return this.redis.ranklogSweep(allKeys.length, ...allKeys, board, generation, ...views);
  }

  /** What Redis holds, of all that use it. */
  async memory(): Promise<ServerMemory> {
    const info = await this.redis.info('memory');
    const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    return { used: bytes('used_memory'), most: bytes('maxmemory') };
  }

  /** What a live board has counted. */
  async facts({ board, generation }: LiveBoard): Promise<BoardFacts> {
    const key = this.keys.facts(this.shardOf(board), generation);
    const [clock, expired, duplicates] = await this.redis.hmget(
      key,
      'clock',
      'expired',
      'duplicates',
    );
    return {
      clock: typeof clock === 'string' ? Number(clock) : null,
      expired: Number(expired ?? 0),
      duplicates: Number(duplicates ?? 0),
    };
  }

  async #registerInShard(
    shard: number,
    definitions: readonly BoardDefinition[],
    known: Known,
  ): Promise<void> {
    const { current } = known;
    const isWanted = new Set(definitions.map(({ board }) => board));
    const removed = [...current.values()].filter(
      ({ board, definition }) =>
        definition === null && !isWanted.has(board) && this.shardOf(board) === shard,
    );
    const { keys } = this;
    await this.redis.ranklogRegister(
      7,
      keys.live(shard),
      keys.appliedOffsets(shard),
      keys.definitions(shard),
      keys.registered(shard),
      keys.starts(shard),
      keys.promotions(shard),
      keys.removed(shard),
      definitions.length,
      ...definitions.flatMap((definition) => registration(definition, known)),
      ...removed.map(({ board }) => board),
    );
  }

  async #perShard(
    read: (shard: number) => Promise<string | null>,
    missing: number,
  ): Promise<number[]> {
    const values = await Promise.all(this.allShards.map(read));
    return values.map((value) => Number(value ?? missing));
  }
}

/** What Kafka knows of boards: those that are in force, and where others begin. */
interface Known {
  readonly current: ReadonlyMap<string, DefinitionRecord>;
  readonly begins: Starts;
}

/** A board as lua/register.lua takes it. */
function registration(
  definition: BoardDefinition,
  { current, begins }: Known,
): (string | number)[] {
  const { board } = definition;
  const { starts, since } = current.get(board) ?? { starts: begins, since: 0 };
  return [
    board,
    definitionHash(definition),
    definitionText(definition),
    starts === undefined || starts.size === 0 ? '' : startsText(starts),
    since,
  ];
}

/** Leader changes come after what the event itself brought about; one call has at most one for a view. */
function byOffset(a: Verdict, b: Verdict): number {
  return (
    a.offset - b.offset || Number(a.kind === 'leaderChange') - Number(b.kind === 'leaderChange')
  );
}
