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
import type { Settings } from '../config/settings.js';

type StoreSettings = Pick<Settings, 'redisPrefix' | 'shards'>;

interface StoreOptions {
  /** What `store` compares with the identity in Redis. */
  readonly identity?: IdentityCheck | undefined;
  /** A snapshot that `reader` reads instead of live generations. */
  readonly generation?: string | undefined;
}

/** Everything that reads and writes the boards in Redis, on one client. */
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

  constructor(
    redis: RedisClient,
    { redisPrefix: prefix, shards }: StoreSettings,
    { identity, generation }: StoreOptions = {},
  ) {
    const keys = new KeySpace(prefix);
    this.keys = keys;
    this.#redis = redis;
    this.store = new BoardStore(redis, keys, { shards, identity });
    this.continuity = new ContinuityStore(redis, keys, { shards });
    this.leases = new LeaseStore(redis, keys, { shards });
    this.generations = new GenerationStore(redis, keys, { shards });
    this.catalog = new GenerationCatalog(redis, keys, { shards });
    this.status = new StoreStatus(redis, keys);
    this.reader = new BoardReader({ redis, prefix, generation });
  }

  /** A board to be read in one generation. @throws UnknownBoardError, BoardBuildingError */
  pinned(board: string): Promise<PinnedBoard> {
    return PinnedBoard.open(this.#redis, this.keys, board);
  }
}

/**
 * Opens the stores on a client. Without `shards`, takes the number that Redis has, which costs a
 * request.
 */
export async function openStores(
  redis: RedisClient,
  { redisPrefix, shards }: Pick<StoreSettings, 'redisPrefix'> & Partial<StoreSettings>,
  options?: StoreOptions,
): Promise<Stores> {
  const found = shards ?? (await new StoreStatus(redis, new KeySpace(redisPrefix)).shards());
  return new Stores(redis, { redisPrefix, shards: found }, options);
}
