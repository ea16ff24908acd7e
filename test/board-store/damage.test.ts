import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  banText,
  BoardReader,
  type ComparisonCursor,
  type Difference,
  type Shadow,
  type Stretch,
} from '#board-store';
import { settlingCalls } from '../../src/ingest/split-calls.js';
import { definitionArbitrary } from '../model/definitions.js';
import { eventArbitrary } from '../model/inputs.js';
import { PROPERTY_TIMEOUT, runs } from '../model/arbitrary.js';
import { Oracle } from '../model/oracle.js';
import { compareGeneration } from '../model/store-comparison.js';
import { readBytes, readScores, type BoardPlace } from '../model/store-keys.js';
import { arena, lasting, scored, stretchOf, T0 } from './fixture.js';
import { stateOf } from '../model/oracle-format.js';
import { damages } from './damages.js';
import { endingOf, EVENTS, GenerationFixture } from './generation-fixture.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

/** A board with its whole log applied, to be damaged, compared and rebuilt. */
class DamagedBoard {
  private constructor(
    readonly fixture: GenerationFixture,
    private readonly logs: readonly (readonly ResolvedEvent[])[],
  ) {}

  static async make(
    definition: BoardDefinition,
    logs: readonly (readonly ResolvedEvent[])[],
  ): Promise<DamagedBoard> {
    const fixture = await GenerationFixture.make(testRedis, { definition, events: [] });
    await redis.persist(fixture.keys.lease(0, 'arena'));
    for (const [partition, events] of logs.entries())
      if (events.length > 0) await fixture.apply(events, { partition });
    return new DamagedBoard(fixture, logs);
  }

  get place() {
    return { keys: this.fixture.keys, shard: 0, live: this.fixture.live };
  }

  /** An oracle that has applied the whole log. */
  oracle(): Oracle {
    const oracle = new Oracle([this.fixture.live.definition]);
    for (const [partition, events] of this.logs.entries())
      for (const event of events) oracle.apply('arena', event, partition);
    return oracle;
  }

  stretches(logs = this.logs): Stretch[] {
    return logs.map((events, partition) => stretchOf(events, { partition }));
  }

  /**
   * All differences between the board and a build from the log. `between` runs after each step of
   * the comparison.
   */
  async differences(between?: () => Promise<readonly Stretch[]>): Promise<Difference[]> {
    const shadow = await this.fixture.begin('verify');
    const { differences } = await this.compare(shadow, between);
    await this.fixture.generations.discard(this.fixture.lease, shadow);
    return differences;
  }

  async rebuild(): Promise<void> {
    await this.fixture.makeLive(await this.fixture.begin(), this.stretches(), 0);
  }

  /**
   * Returns the differences from a shadow, the number of compared views, and the largest number of
   * views in one step. `between` runs after each step, and returns the stretches for the next step.
   */
  async compare(shadow: Shadow, between = () => Promise.resolve<readonly Stretch[]>([])) {
    const differences = new Map<string, Difference>();
    let stretches: readonly Stretch[] = this.stretches();
    let [views, largestPage] = [0, 0];
    let cursor: ComparisonCursor | undefined;
    do {
      const { generations, lease } = this.fixture;
      const step = endingOf(await generations.compare(lease, shadow, stretches, cursor));
      views += step.views;
      largestPage = Math.max(largestPage, step.views);
      for (const difference of step.differences)
        differences.set(JSON.stringify(difference), difference);
      cursor = step.next;
      stretches = await between();
    } while (cursor !== undefined);
    return { differences: [...differences.values()], views, largestPage };
  }
}

/** What present and later reads depend on: the event clock, and the views that have not expired. */
async function contentOf(place: BoardPlace) {
  const { keys, shard } = place;
  const { generation } = place.live;
  const clock = await redis.hget(keys.facts(shard, generation), 'clock');
  const ends = await readScores(redis, keys.expiries(shard, generation));
  const views = new Map<string, unknown>();
  for (const view of (await redis.hkeys(keys.views(shard, generation))).sort()) {
    const end = ends.get(view);
    if (end !== undefined && clock !== null && end <= Number(clock)) continue;
    views.set(view, { end, ...(await readBytes(redis, place, view)) });
  }
  return { clock, views };
}

const PLAYERS = ['a', 'b', 'é', 'a b'];

const scenario = definitionArbitrary('arena').chain((definition) => {
  const log = fc.array(eventArbitrary(definition, PLAYERS), { maxLength: 12, size: 'max' });
  return fc.record({
    definition: fc.constant(definition),
    logs: fc.tuple(log, log),
    damage: fc.constantFrom(...damages),
    choice: fc.array(fc.nat({ max: 1_000 }), { minLength: 3, maxLength: 3 }),
  });
});

describe('damage to a board', () => {
  it(
    'is found if, and only if, it changes what reads depend on; a build repairs it',
    async () => {
      let found = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ definition, logs, damage, choice }) => {
          const board = await DamagedBoard.make(definition, logs);
          const { place } = board;
          expect(await board.differences()).toEqual([]);
          const before = await contentOf(place);
          await damage.damage(redis, place, choice);
          const after = await contentOf(place);
          const differences = await board.differences();
          expect(differences.length > 0).toBe(!isDeepStrictEqual(before, after));
          if (differences.length > 0) found += 1;
          await board.rebuild();
          expect(await board.differences()).toEqual([]);
          await compareGeneration(redis, board.place, board.oracle());
          const reader = new BoardReader({ redis, prefix: place.keys.prefix });
          for (const view of board.oracle().views('arena').slice(0, 2)) {
            const { entries } = await reader.standings('arena', { view, limit: 100 });
            expect(entries).toEqual(board.oracle().standings('arena', view));
          }
        }),
        runs(60),
      );
      expect(found).toBeGreaterThan(0);
    },
    PROPERTY_TIMEOUT,
  );

  it('is not reported for a ban that is half applied, and settled by a rollback', async () => {
    const board = await DamagedBoard.make(arena, [EVENTS]);
    const { fixture } = board;
    const { generations, lease, store } = fixture;
    const names = { board: 'arena', playerId: 'a' };
    const place = { partition: 0, offset: EVENTS.length };
    const entry = banText({ kind: 'banned', ...names, occurredAt: T0 }, place);
    const entries = [{ kind: 'player' as const, ...names, offset: place.offset, entry }];
    const call = fixture.call([], { from: place.offset });
    await store.apply({ ...call, through: place.offset, entries }); // marks the record

    await fixture.makeLive(await fixture.begin(), board.stretches());
    const rollback = await generations.beginRollback(lease);
    const views = await store.viewsOfPlayers(rollback, ['a']);
    for (const one of settlingCalls(entries, views, arena))
      await generations.joinRecords(lease, rollback, { partition: 0, ...one });
    await fixture.makeLive(rollback);
    expect(await fixture.ranking(fixture.live)).toHaveLength(2); // b and its score
    expect(await board.differences()).toEqual([]);
  });

  it('is reported player by player among many players, without false differences under traffic', async () => {
    const players = Array.from({ length: 1_700 }, (_, index) => `p${index}`);
    const events = players.map((player, index) => scored(player, [index % 50]));
    const board = await DamagedBoard.make(arena, [events, []]);
    const { fixture, place } = board;
    const { keys } = fixture;
    const { generation } = fixture.live;
    await redis.hset(keys.players(0, generation, 'all'), 'p7', stateOf(-900));
    await redis.hdel(keys.players(0, generation, 'all'), 'p900');
    await redis.hset(keys.players(0, generation, 'all'), 'ghost', stateOf(-1));
    const late: ResolvedEvent[] = [];
    const differences = await board.differences(async () => {
      const next = late.length;
      const moved = scored(players[(next * 37) % 800 + 8]!, [5]); // prettier-ignore
      late.push(moved);
      await fixture.apply([moved], { partition: 1, from: next });
      const all = board.stretches([events, late]);
      return all.map((stretch) =>
        stretch.partition === 1 ? stretch : { ...stretch, entries: [] },
      );
    });
    expect(late.length).toBeGreaterThan(3 * 3);
    const told = new Set(differences.map(({ kind, playerId }) => `${kind} ${playerId}`));
    expect([...told].sort()).toEqual(
      ['columns p7', 'extra ghost', 'missing p900', 'order p7', 'order p900'].sort(),
    );
    expect((await contentOf(place)).views.size).toBe(1);
  });

  it('is reported among many views, with a few hundred views per step', async () => {
    const count = 1_000;
    const events = Array.from({ length: count }, (_, index) =>
      scored('a', [1], { views: lasting(`all region=r${index}`) }),
    );
    const board = await DamagedBoard.make(arena, [events, []]);
    const { keys, live } = board.fixture;
    await redis.hdel(keys.views(0, live.generation), 'all region=r7');
    await redis.hset(keys.views(0, live.generation), 'all region=nowhere', 1);
    await redis.zadd(keys.expiries(0, live.generation), T0, 'all region=r9');
    const shadow = await board.fixture.begin('verify');
    const { views, differences, largestPage } = await board.compare(shadow);
    expect(views).toBe(count - 1);
    expect(largestPage).toBeLessThan(count / 2);
    expect(differences.sort((a, b) => (a.view < b.view ? -1 : 1))).toEqual([
      { view: 'all region=nowhere', kind: 'view', found: 'never' },
      { view: 'all region=r7', kind: 'view', expected: 'never' },
      { view: 'all region=r9', kind: 'view', expected: 'never', found: String(T0) },
    ]);
  });

  it('is not reported for a view that expires during the comparison, although one generation is swept before the other', async () => {
    const day = { view: 'day:2026-11-20', expiresAt: T0 + 1_000, published: true };
    const windows = [{ kind: 'all' }, { kind: 'day', keepMs: 1_000 }] as const;
    const first = scored('a', [1], { views: [day, ...lasting('all')] });
    const later = scored('a', [1], { occurredAt: T0 + 5_000 });
    const board = await DamagedBoard.make({ ...arena, windows }, [[first]]);
    const { fixture } = board;
    const shadow = await fixture.begin('verify');
    let isSwept = false;
    const expire = async () => {
      if (isSwept) return [];
      isSwept = true;
      await fixture.apply([later], { from: 1 });
      expect(await fixture.store.sweep(fixture.live)).toBe(1);
      return [stretchOf([later], { from: 1 })];
    };
    expect(await board.compare(shadow, expire)).toMatchObject({ views: 2, differences: [] });
  });

  it('to event ids and their clock is found, and a build repairs it', async () => {
    const definition = { ...arena, deduplicateMs: 1_000 };
    const first = scored('a', [1], { eventId: 'x' });
    const board = await DamagedBoard.make(definition, [[first], []]);
    const { keys, live } = board.fixture;
    await redis.del(keys.eventIds(0, live.generation, 0));
    const difference = (found: string) => ({
      ...{ view: '', kind: 'eventIds', partition: 0 },
      ...{ expected: `partition 0: 1 ids, up to ${T0} ms`, found: `partition 0: ${found}` },
    });
    expect(await board.differences()).toEqual([difference(`0 ids, up to ${T0} ms`)]);
    await redis.hdel(keys.facts(0, live.generation), 'clock:0');
    expect(await board.differences()).toEqual([difference('nothing')]);
    await board.rebuild();
    await compareGeneration(redis, board.place, board.oracle());
    expect(await board.fixture.apply([first], { from: 1 })).toEqual([]);
  });

  it('is found if one of many event ids has another time or is replaced; ids older than the span of deduplicate are not compared', async () => {
    const log = Array.from({ length: 1_500 }, (_, index) =>
      scored('a', [1], { eventId: `x${index}` }),
    );
    const board = await DamagedBoard.make({ ...arena, deduplicateMs: 1_000 }, [[], log]);
    const { fixture } = board;
    const ids = fixture.keys.eventIds(0, fixture.live.generation, 1);
    const difference = (found: string) => ({
      ...{ view: '', kind: 'eventIds', partition: 1 },
      ...{
        expected: `partition 1: "x700" of a at ${T0} ms`,
        found: `partition 1: "x700" of a ${found}`,
      },
    });
    expect(await redis.zadd(ids, 'XX', 'CH', T0 - 500, 'x700\na')).toBe(1);
    expect(await board.differences()).toEqual([difference(`at ${T0 - 500} ms`)]);
    await redis.zrem(ids, 'x700\na');
    await redis.zadd(ids, T0, 'ghost\na');
    expect(await board.differences()).toEqual([difference('not there')]);

    await redis.zrem(ids, 'ghost\na');
    await redis.zadd(ids, T0, 'x700\na', T0 - 1_000, 'forgotten late\na');
    const shadow = await fixture.build([], { purpose: 'verify' });
    await fixture.generations.catchUp(fixture.lease, shadow, board.stretches());
    const ofShadow = fixture.keys.eventIds(0, shadow.generation, 1);
    await redis.zadd(ofShadow, T0 - 1_000, 'by another batch\na');
    expect((await board.compare(shadow)).differences).toEqual([]);
  });

  it('to counters and versions of views is not reported', async () => {
    const board = await DamagedBoard.make(arena, [[scored('a', [1])]]);
    const { keys, live } = board.fixture;
    await redis.hset(keys.views(0, live.generation), 'all', 5);
    await redis.hincrby(keys.facts(0, live.generation), 'duplicates', 7);
    expect(await board.differences()).toEqual([]);
  });
});
