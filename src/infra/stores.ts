import {
  BoardReader,
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  GenerationStore,
  KeySpace,
  LeaseStore,
  PinnedBoard,
  StoreStatus,
  type IdentityCheck,
  type RedisClient,
} from '#board-store';
import { toError } from '#errors';
import type { Settings } from '../config/settings.js';
import { isRedisUnavailable } from './redis.js';

type StoreSettings = Pick<Settings, 'redisPrefix' | 'shards'>;

interface StoreOptions {
  /** `store` compares it with the identity in Redis. */
  readonly identity?: IdentityCheck | undefined;
  /** A snapshot that `reader` reads instead of live generations. */
  readonly generation?: string | undefined;
  /** Shards that `continuity`, `leases`, `catalog` and `status` do not read. */
  readonly without?: readonly number[];
}

/** All stores that read and write boards in Redis, on one client. */
export class Stores {
  readonly keys: KeySpace;
  readonly store: BoardStore;
  readonly continuity: ContinuityStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly catalog: GenerationCatalog;
  readonly status: StoreStatus;
  readonly reader: BoardReader;

  readonly #redis: RedisClient;
  readonly #settings: StoreSettings;

  constructor(
    redis: RedisClient,
    settings: StoreSettings,
    { identity, generation, without }: StoreOptions = {},
  ) {
    const { redisPrefix: prefix, shards } = settings;
    const keys = new KeySpace(prefix);
    this.keys = keys;
    this.#redis = redis;
    this.#settings = settings;
    this.store = new BoardStore(redis, keys, { shards, identity });
    const read = { shards, ...(without && { without }) };
    this.continuity = new ContinuityStore(redis, keys, read);
    this.leases = new LeaseStore(redis, keys, read);
    this.generations = new GenerationStore(redis, keys, { shards });
    this.catalog = new GenerationCatalog(redis, keys, read);
    this.status = new StoreStatus(redis, keys, read);
    this.reader = new BoardReader({ redis, prefix, generation }, shards);
  }

  /**
   * A board for reads of one generation.
   * @throws UnknownBoardError, BoardBuildingError
   */
  pinned(board: string): Promise<PinnedBoard> {
    return PinnedBoard.open(this.#redis, this.keys, this.#settings.shards, board);
  }

  /**
   * Cost: a request to each shard of a Redis Cluster.
   * @throws the error of a shard if all shards wait, or if it is another error
   */
  async answering(): Promise<AnsweringStores> {
    const waiting = await waitingShards(this.#redis, this.keys, this.#settings.shards);
    const without = waiting.map(({ shard }) => shard);
    return { stores: new Stores(this.#redis, this.#settings, { without }), waiting };
  }
}

/**
 * The number of shards in Redis. If Redis lacks it, returns that of the settings: Redis is not
 * claimed yet, or the node that had the number has lost its data.
 */
export async function storedShards(redis: RedisClient, settings: StoreSettings): Promise<number> {
  const keys = new KeySpace(settings.redisPrefix);
  const stored = await redis.get(keys.shards());
  return Number(stored ?? settings.shards);
}

/** A shard of a Redis Cluster that scripts cannot use now, and why. */
export interface WaitingShard {
  readonly shard: number;
  readonly slot: number;
  readonly reason: string;
}

/** Stores that do not read the shards that wait, for a status. */
export interface AnsweringStores {
  readonly stores: Stores;
  readonly waiting: readonly WaitingShard[];
}

/**
 * The shards of a Redis Cluster whose node is away or whose slot moves. Asks each shard for two
 * keys at once, of which one usually does not exist: while a slot moves, a node refuses this
 * request as it refuses scripts.
 */
async function waitingShards(
  redis: RedisClient,
  keys: KeySpace,
  shards: number,
): Promise<WaitingShard[]> {
  if (!redis.isCluster) return [];
  const requests = Array.from({ length: shards }, (_, shard) =>
    redis.exists(keys.live(shard), keys.resyncLease(shard)),
  );
  const outcomes = await Promise.allSettled(requests);

  const waiting: WaitingShard[] = [];
  let firstError: unknown;
  for (const [shard, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue;
    const error: unknown = outcome.reason;
    if (!isRedisUnavailable(error)) throw error;
    firstError ??= error;
    waiting.push({ shard, slot: keys.slot(shard), reason: toError(error).message });
  }
  if (waiting.length === shards) throw firstError;
  return waiting;
}
