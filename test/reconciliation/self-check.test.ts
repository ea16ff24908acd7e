import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent, ResolvedView } from '#board';
import { GenerationStore, LeaseStore, SampleStore, type WatermarkReading } from '#board-store';
import { SelfCheck } from '../../src/reconciliation/self-check.js';
import { arena, lasting, scored, StoreFixture, T0 } from '../board-store/fixture.js';
import { order } from '../board-store/order.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { seededRandom } from '../support/seeded-random.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** Three columns: score, and two in the member beside the reach time. */
const DEFINITION: BoardDefinition = {
  ...arena,
  columns: ['wins', 'goals', 'fouls'].map((name) => ({ ...arena.columns[0]!, name })),
};

/** A self-check of a board of its own, with what it has counted and said. */
class Checked {
  readonly errors: string[] = [];
  readonly infos: string[] = [];
  readonly counted = new Map<string, number>();
  readonly check: SelfCheck;

  private constructor(
    readonly fixture: StoreFixture,
    random?: () => number,
  ) {
    const { keys, store } = fixture;
    const counter = (name: string) => ({
      inc: (labels: Readonly<Record<string, string | number>>, by = 1) => {
        const key = [name, ...Object.values(labels)].join(' ');
        this.counted.set(key, (this.counted.get(key) ?? 0) + by);
      },
    });
    this.check = new SelfCheck({
      store,
      samples: new SampleStore(redis, keys, { shards: 1 }),
      counters: {
        selfChecks: counter('checks'),
        selfCheckViolations: counter('violations'),
        selfCheckFallenWatermarks: counter('fallen'),
      },
      log: {
        debug: (message) => this.errors.push(message),
        info: (message) => this.infos.push(message),
        error: (message) => this.errors.push(message),
      },
      everyMs: 0,
      ...(random && { random }),
    });
  }

  static async of(definition: BoardDefinition, random?: () => number): Promise<Checked> {
    return new Checked(await new StoreFixture(redis, newKeys()).register(definition), random);
  }

  get ranking(): string {
    return this.fixture.keys.ranking(0, this.fixture.live.generation, 'all');
  }

  get players(): string {
    return this.fixture.keys.players(0, this.fixture.live.generation, 'all');
  }

  get views(): string {
    return this.fixture.keys.views(0, this.fixture.live.generation);
  }

  get facts(): string {
    return this.fixture.keys.facts(0, this.fixture.live.generation);
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await this.check.check();
  }

  /** Kinds of what was found. */
  get kinds(): string[] {
    return [...this.counted.keys()]
      .filter((key) => !key.startsWith('checks'))
      .map((key) => key.replace(`violations ${arena.board} `, ''))
      .sort();
  }
}

const PLAYERS = Array.from({ length: 8 }, (_, index) => `player-${index} é`);

describe('the self-check', () => {
  let checked: Checked;
  beforeEach(async () => {
    checked = await Checked.of(DEFINITION);
    const events = PLAYERS.map((player, index) => scored(player, [index, -3, 2 ** 40]));
    await checked.fixture.apply(events);
    await checked.turns(1); // it knows the view now
  });

  const raw = (member: string | Buffer) => member as string;
  const firstMember = async () => (await redis.zrangeBuffer(checked.ranking, 0, 0))[0]!;

  it('finds nothing on a board as it should be', async () => {
    await checked.turns(5);
    expect(checked.errors).toEqual([]);
    expect(checked.counted).toEqual(new Map([[`checks ${arena.board}`, 6]]));
  });

  it.each<[string, string[], () => Promise<unknown>]>([
    ['a member more', ['member', 'size'], () => redis.zadd(checked.ranking, 7, 'mallory')],
    [
      'another score',
      ['player'],
      async () => redis.zincrby(checked.ranking, 1, raw(await firstMember())),
    ],
    [
      'a member less',
      ['player', 'size'],
      async () => redis.zrem(checked.ranking, raw(await firstMember())),
    ],
    [
      'another state',
      ['member', 'player'],
      () => redis.hset(checked.players, PLAYERS[3]!, `-9@${T0} 3@${T0} 4@${T0}`),
    ],
    [
      'another reach time',
      ['member', 'player'],
      async () => {
        const state = (await redis.hget(checked.players, PLAYERS[3]!)) ?? '';
        await redis.hset(checked.players, PLAYERS[3]!, state.replace(String(T0), String(T0 + 1)));
      },
    ],
    [
      'a state that is none',
      ['member', 'state'],
      () => redis.hset(checked.players, PLAYERS[3]!, 'nonsense'),
    ],
    ['a player less', ['member', 'size'], () => redis.hdel(checked.players, PLAYERS[3]!)],
    [
      'a player more',
      ['player', 'size'],
      () => redis.hset(checked.players, 'mallory', `-9@${T0} 3@${T0} 4@${T0}`),
    ],
    ['no ranking', ['player', 'size'], () => redis.del(checked.ranking)],
    ['no players', ['member', 'size', 'view'], () => redis.del(checked.players)],
    ['neither', ['view'], () => redis.del(checked.players, checked.ranking)],
    ['a view that is not known', ['view'], () => redis.hdel(checked.views, 'all')],
    ['a key of another type', ['type'], () => redis.set(checked.ranking, 'x')],
    ['views of another type', ['type'], () => redis.set(checked.views, 'x')],
    ['facts of another type', ['type'], () => redis.set(checked.facts, 'x')],
    ['a version that is none', ['number'], () => redis.hset(checked.views, 'all', 'x')],
    ['a floor that is none', ['number'], () => redis.hset(checked.facts, 'floor', 'x')],
  ])('finds %s', async (_, kinds, damage) => {
    await damage();
    await checked.turns(1);
    expect(checked.kinds).toEqual(kinds);
    expect(checked.errors).toHaveLength(kinds.length);
  });

  it.each([
    ['lower', () => redis.hset(checked.fixture.keys.watermarks(0), '0', '3')],
    ['gone', () => redis.hdel(checked.fixture.keys.watermarks(0), '0')],
  ])('finds a watermark that is %s, and tells it once', async (_, damage) => {
    await damage();
    await checked.turns(3);
    expect(checked.counted.get('fallen 0 0')).toBe(1);
    expect(checked.errors).toEqual([
      expect.stringMatching(/^the watermark of partition 0 in shard 0 went back from 7 to (3|-1),/),
    ]);
  });

  it('finds no fault with watermarks of a shard that was compared with Kafka since', async () => {
    await redis.hset(checked.fixture.keys.watermarks(0), '0', '3');
    await checked.fixture.compare();
    await checked.turns(2);
    expect(checked.errors).toEqual([]);
  });

  it('tells damage once for each kind, until it is gone; and again when it is back', async () => {
    const member = await firstMember();
    const score = await redis.zscore(checked.ranking, raw(member));
    await redis.zrem(checked.ranking, raw(member));
    await checked.turns(20);
    expect(checked.errors).toEqual([
      expect.stringMatching(/^board "arena", view "all": .* \(size\): 8 players, and 7 members/),
      expect.stringMatching(/^board "arena", view "all": .* \(player\): player-7 é with /),
    ]);
    expect(checked.infos).toEqual([]);
    await redis.zadd(checked.ranking, score ?? '', raw(member));
    await checked.turns(20);
    expect(checked.infos).toEqual([
      expect.stringContaining('damage (size) is gone'),
      expect.stringContaining('damage (player) is gone'),
    ]);
    await redis.zrem(checked.ranking, raw(member));
    await checked.turns(1);
    expect(checked.errors).toHaveLength(4);
  });

  it('says nothing of a generation that is live no more', async () => {
    const { keys, live } = checked.fixture;
    const samples = new SampleStore(redis, keys, { shards: 1 });
    await redis.del(checked.ranking);
    expect(await samples.checkView(live, 'all', 20)).not.toEqual([]);
    await redis.hset(keys.live(0), live.board, 'another');
    expect(await samples.checkView(live, 'all', 20)).toEqual([]);
  });

  it('reads no continuity of a shard that was restored on another server', async () => {
    const { keys } = checked.fixture;
    const samples = new SampleStore(redis, keys, { shards: 1 });
    const reading: WatermarkReading = {
      continuity: checked.fixture.token,
      watermarks: new Map([[0, 7]]),
    };
    expect(await samples.watermarks(0)).toEqual(reading);
    await redis.set(keys.continuity(0), `${'0'.repeat(40)} 1`);
    expect(await samples.watermarks(0)).toEqual({ ...reading, continuity: '' });
  });
});

describe('the self-check, on boards that move', () => {
  const { random, seed } = seededRandom();

  it(`gives no false alarm, whatever comes (RANKLOG_TEST_SEED=${seed})`, async () => {
    const view = fc.record({
      name: fc.constantFrom('all', 'day:1', 'day:2', 'day:3'),
      ends: fc.integer({ min: 1, max: 50 }),
    });
    const event = fc.record({
      player: fc.constantFrom('a', 'b', 'c\u{1f600}', 'd d'),
      values: fc.tuple(fc.integer(), fc.integer(), fc.integer()),
      after: fc.integer({ min: 0, max: 60 }),
      views: fc.uniqueArray(view, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.array(event, { minLength: 1, maxLength: 12 }) },
      { weight: 2, arbitrary: fc.constant('sweep' as const) },
      { weight: 2, arbitrary: fc.constant('flip' as const) },
      { weight: 1, arbitrary: fc.constant('lose' as const) },
    );
    const ties = fc.constantFrom('earliest', 'latest', 'none');
    const run = fc.asyncProperty(ties, fc.array(step, { maxLength: 12 }), async (tie, steps) => {
      const windows = [{ kind: 'day', keepMs: 1 }] as unknown as BoardDefinition['windows'];
      const checked = await Checked.of({ ...DEFINITION, ties: tie, windows }, random);
      const traffic = new Traffic(checked.fixture);
      const moving = traffic.run(steps);
      while (!traffic.isOver) await checked.turns(1);
      await moving;
      await checked.turns(8);
      expect(checked.errors).toEqual([]);
    });
    await fc.assert(run, { numRuns: 40, seed });
  });
});

type TrafficStep = readonly RandomEvent[] | 'sweep' | 'flip' | 'lose';

/** What befalls a board, one step after the other. */
class Traffic {
  isOver = false;
  #log: ResolvedEvent[] = [];
  readonly #leases: LeaseStore;

  constructor(private readonly fixture: StoreFixture) {
    this.#leases = new LeaseStore(redis, fixture.keys, { shards: 1 });
  }

  async run(steps: readonly TrafficStep[]): Promise<void> {
    try {
      for (const step of steps) await this.#step(step);
    } finally {
      this.isOver = true;
    }
  }

  async #step(step: TrafficStep): Promise<void> {
    const { fixture } = this;
    if (step === 'sweep') await fixture.store.sweep(fixture.live);
    else if (step === 'flip') await this.#flip();
    else if (step === 'lose') await this.#lose();
    else {
      const events = step.map(toEvent);
      await fixture.apply(events, { from: this.#log.length });
      this.#log.push(...events);
    }
  }

  /** A build of the whole log goes live. */
  async #flip(): Promise<void> {
    const { board, definition } = this.fixture.live;
    const generations = new GenerationStore(redis, this.fixture.keys, { shards: 1 });
    const lease = await this.#leases.acquire(board, 'test');
    const shadow = await generations.begin(lease, { definition, purpose: 'build' });
    const entries = this.#log.map((event, offset) => ({
      kind: 'event' as const,
      offset,
      board,
      event,
    }));
    const stretch = { partition: 0, from: 0, through: entries.length - 1, entries };
    const stretches = entries.length === 0 ? [] : [stretch];
    await order(generations, lease, shadow);
    const outcome = await generations.flip(lease, shadow, stretches, { graceMs: 60_000 });
    expect(outcome).toMatchObject({ status: 'applied', ending: expect.anything() });
    await this.#leases.release(lease);
    this.fixture.live = shadow;
  }

  /** The store is emptied, and the board registered anew. */
  async #lose(): Promise<void> {
    const { keys, live } = this.fixture;
    const names = await redis.keys(`${keys.prefix}:*`);
    if (names.length > 0) await redis.unlink(...names);
    await this.fixture.register(live.definition);
    this.#log = [];
  }
}

interface RandomEvent {
  readonly player: string;
  readonly values: readonly [number, number, number];
  readonly after: number;
  readonly views: readonly { readonly name: string; readonly ends: number }[];
}

/** Views but `all` expire a few ms of the event clock later. */
function toEvent({ player, values, after, views }: RandomEvent): ResolvedEvent {
  const occurredAt = T0 + after;
  const resolved: ResolvedView[] = views.map(({ name, ends }) =>
    name === 'all' ? lasting('all')[0]! : { view: name, expiresAt: T0 + ends, published: true },
  );
  return { playerId: player, occurredAt, values: [...values], views: resolved };
}
