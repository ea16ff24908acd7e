import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  GenerationCatalog,
  GenerationStore,
  LeaseStore,
  UNRANKED,
  type CatchUpOutcome,
  type Lease,
  type LiveBoard,
  type NewShadow,
  type Promotion,
  type RankingCursor,
  type Shadow,
  type Stretch,
} from '#board-store';
import type { Redis } from 'ioredis';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import type { TestRedis } from './test-redis.js';
import { keysOf } from '../../scripts/redis-client.mjs';

export const EVENTS = [scored('a', [3]), scored('b', [5])];
export const HOLDER = 'host:1';

type Purpose = NewShadow['purpose'];

/** A board with some events, and a process that holds its lease and works on its generations. */
export class GenerationFixture extends StoreFixture {
  readonly leases = new LeaseStore(this.redis, this.keys, { shards: 1 });
  readonly catalog: GenerationCatalog;
  readonly generations: GenerationStore;
  lease!: Lease;

  /** `client` sends the calls on generations. */
  constructor({ redis, newKeys }: Pick<TestRedis, 'redis' | 'newKeys'>, client = redis) {
    super(redis, newKeys());
    this.catalog = new GenerationCatalog(client, this.keys, { shards: 1 });
    this.generations = new GenerationStore(client, this.keys, { shards: 1 });
  }

  static async make(
    test: Pick<TestRedis, 'redis' | 'newKeys'>,
    options: {
      definition?: BoardDefinition;
      events?: readonly ResolvedEvent[];
      client?: Redis;
    } = {},
  ): Promise<GenerationFixture> {
    const { definition = arena, events = EVENTS, client } = options;
    const fixture = await new GenerationFixture(test, client).register(definition);
    if (events.length > 0) await fixture.apply(events);
    await fixture.acquire();
    return fixture;
  }

  async acquire(holder = HOLDER): Promise<void> {
    this.lease = await this.leases.acquire('arena', holder);
  }

  /** Deletes the lease, as if its holder had been killed and the lease had expired. */
  async killHolder(): Promise<void> {
    await this.redis.del(this.keys.lease(0, 'arena'));
  }

  begin(purpose: Purpose = 'build', definition = this.live.definition): Promise<Shadow> {
    return this.generations.begin(this.lease, { definition, purpose });
  }

  /** A shadow with these events. */
  async build(
    events: readonly ResolvedEvent[] = EVENTS,
    { purpose = 'build', definition = this.live.definition }: Partial<NewShadow> = {},
  ): Promise<Shadow> {
    const shadow = await this.begin(purpose, definition);
    await this.generations.catchUp(this.lease, shadow, [stretchOf(events)]);
    return shadow;
  }

  promote(shadow: Shadow, stretches: readonly Stretch[] = [], graceMs = 60_000) {
    return rankAndPromote(this.generations, this.lease, shadow, stretches, { graceMs });
  }

  /**
   * Promotes a shadow that is at the live applied offsets after these stretches; later calls name
   * it as the live generation.
   */
  async makeLive(...args: Parameters<GenerationFixture['promote']>): Promise<Promotion> {
    const promotion = endingOf(await this.promote(...args));
    await this.readLive();
    return promotion;
  }

  async readLive(): Promise<LiveBoard> {
    this.live = (await this.store.boards()).live.get('arena')!;
    await this.refresh();
    return this.live;
  }

  async sweep(): Promise<void> {
    while ((await this.catalog.sweep()) > 0);
  }

  /** The members of a generation's view "all", with their scores. */
  ranking({ generation }: Pick<LiveBoard, 'generation'>): Promise<Buffer[]> {
    const key = this.keys.ranking(0, generation, 'all');
    return this.redis.zrangeBuffer(key, 0, -1, 'WITHSCORES');
  }

  /** The keys of a generation. */
  keysOf({ generation }: Pick<LiveBoard, 'generation'>): Promise<string[]> {
    return keysOf(this.redis, `${this.keys.prefix}:*${generation}*`);
  }

  shadowEntry(): Promise<string | null> {
    return this.redis.hget(this.keys.shadows(0), 'arena');
  }

  previousEntry(): Promise<string | null> {
    return this.redis.hget(this.keys.previous(0), 'arena');
  }
}

/** Ranks a build, from a cursor on, to the end. Returns how many players each step ranked. */
export async function rankAll(
  store: GenerationStore,
  lease: Lease,
  shadow: Shadow,
  cursor?: RankingCursor,
): Promise<number[]> {
  const { players, next } = await store.rank(lease, shadow, cursor);
  return next === undefined ? [players] : [players, ...(await rankAll(store, lease, shadow, next))];
}

/** Promotes a shadow; a build is ranked when it has reached the live applied offsets. */
export async function rankAndPromote(
  store: GenerationStore,
  ...args: Parameters<GenerationStore['promote']>
): Promise<CatchUpOutcome<Promotion>> {
  const outcome = await store.promote(...args);
  if (outcome.status !== 'applied' || outcome.ending !== UNRANKED)
    return outcome as CatchUpOutcome<Promotion>;
  await rankAll(store, args[0], args[1]);
  return (await store.promote(...args)) as CatchUpOutcome<Promotion>;
}

/**
 * The result of the ending of a catch-up call, which runs once the shadow has reached the live
 * applied offsets.
 */
export function endingOf<T>(outcome: CatchUpOutcome<T>): T {
  if (outcome.status !== 'applied' || outcome.ending === undefined)
    throw new Error(`the catch-up call did not run its ending: ${JSON.stringify(outcome)}`);
  return outcome.ending;
}
