import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RANKS, type Publish } from '#board';

import {
  arena,
  changesOf,
  lasting,
  movements,
  scored,
  StoreFixture,
  T0,
  verdictsOf,
} from './fixture.js';
import { RedisServer } from '../support/redis-server.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
});

/** Expects that an act leaves every key as it was. */
async function expectNothingWritten(act: () => Promise<unknown>): Promise<void> {
  const before = await dumpKeys(fixture.redis, fixture.keys);
  await act();
  expect(await dumpKeys(fixture.redis, fixture.keys)).toEqual(before);
}

describe('an apply call that is refused writes nothing, for', () => {
  const record = [scored('c', [1])];
  const nothing = () => Promise.resolve<unknown>(undefined);
  const fill = () => fixture.apply([scored('a', [1]), scored('b', [1])]);
  const losePointers = () => fill().then(() => redis.del(fixture.keys.live(0)));
  const loseOffset = () => fill().then(() => redis.hset(fixture.keys.appliedOffsets(0), '0', '0'));
  type Row = [string, () => Promise<unknown>, Parameters<StoreFixture['call']>[1], string];

  it.each<Row>([
    ['another version of the pointers', fill, { from: 2, version: '1' }, 'generationChanged'],
    ['pointers that are gone', losePointers, { from: 2 }, 'generationChanged'],
    [
      'an applied offset below the one that the caller knows',
      loseOffset,
      { from: 2 },
      'rolledBack',
    ],
    ['an applied offset that is gone', nothing, { believed: 0 }, 'rolledBack'],
    ['a run that begins beyond the next offset', fill, { from: 3, believed: 1 }, 'gap'],
    ['a first run that begins beyond offset 0', nothing, { from: 1, believed: -1 }, 'gap'],
  ])('%s', async (_, prepare, fields, status) => {
    await prepare();
    for (const events of [[], record])
      await expectNothingWritten(async () => {
        expect(await fixture.store.apply(fixture.call(events, fields))).toEqual({ status });
      });
  });

  it('an event of a board that the call does not list', async () => {
    await expectNothingWritten(async () => {
      const call = fixture.call(record, { boards: new Map() });
      await expect(fixture.store.apply(call)).rejects.toThrow('arena');
    });
  });
});

describe('an apply call', () => {
  it('works on a server that has forgotten the script', async () => {
    const own = await RedisServer.start();
    try {
      fixture = await new StoreFixture(own.redis, newKeys()).register(arena);
      for (let from = 0; from < 3; from++) {
        await own.redis.script('FLUSH');
        expect(await fixture.apply([scored('a', [1])], { from })).toHaveLength(1);
      }
    } finally {
      await own.remove();
    }
  });

  it('returns dead letters unchanged, and again until they are published', async () => {
    const detail = 'line one\nline two\twith "quotes", é and \u{1F600}';
    const entry = { kind: 'deadLetter', offset: 4, code: 'INVALID_JSON', detail } as const;
    const call = { ...fixture.call([], { through: 4, believed: -1 }), entries: [entry] };
    expect(verdictsOf(await fixture.store.apply(call))).toEqual([entry]);
    expect(verdictsOf(await fixture.store.apply({ ...call, published: 4 }))).toEqual([entry]);
    expect(verdictsOf(await fixture.store.apply({ ...call, published: 5 }))).toEqual([]);
  });

  it('takes the verdicts at or below the applied offset from the outbox, whatever the entries are', async () => {
    const first = await fixture.apply([scored('a', [5]), scored('b', [0]), scored('b', [0])]);
    const again = await fixture.apply([scored('x', [9]), scored('y', [9]), scored('z', [9])]);
    expect(again).toEqual(first);
    expect(await redis.zcard(fixture.keys.ranking(0, fixture.live.generation, 'all'))).toBe(2);
  });

  it('deletes at most 5,000 event ids older than the span of deduplicate, so a clock that jumps ahead does not block Redis', async () => {
    const span = 60_000;
    await fixture.register({ ...arena, board: 'ids', deduplicateMs: span });
    const key = fixture.keys.eventIds(0, fixture.live.generation, 0);
    const event = (eventId: string, occurredAt = T0 + 2 * span) =>
      scored('a', [1], { eventId, occurredAt });
    await fixture.apply([event('first', T0)]);
    const old = Array.from({ length: 30_000 }, (_, index) => [T0 + 1, `e-${index}\na`]).flat();
    await redis.zadd(key, ...old);

    const verdicts = await fixture.apply(
      ['first', 'e-29999', 'e-29999'].map((id) => event(id)),
      {
        from: 1,
      },
    );
    expect(movements(verdicts)).toEqual(['1 (1) -> 1 (1)', '1 (1) -> 1 (1)']);
    const left = [await redis.zcard(key)];
    for (let offset = 4; left.at(-1)! > 100; offset++) {
      await fixture.apply([event(`later-${offset}`)], { from: offset });
      left.push(await redis.zcard(key));
    }
    // Each call but the last deletes 5,000 ids; each but the first adds one.
    expect(left).toEqual([25_001, 20_002, 15_003, 10_004, 5_005, 7]);
  });

  it('accepts 500 events, each in 4 views', async () => {
    const views = lasting('all', 'all x=1', 'all y=1', 'all x=1 y=1');
    const events = Array.from({ length: 500 }, (_, index) =>
      scored(`player-${index % 97}`, [index % 5], { views, occurredAt: T0 + index }),
    );
    const verdicts = await fixture.apply(events);
    expect(verdicts.length).toBeGreaterThan(400);
    expect(await fixture.apply(events)).toEqual(verdicts);
  });
});

describe('the version of a view', () => {
  const versions = async (from: number) =>
    (await fixture.apply([scored('a', [1]), scored('b', [1])], { from })).flatMap((verdict) =>
      verdict.kind === 'rankChange' ? changesOf(verdict).map(({ version }) => version) : [],
    );

  it('is the time of the server in µs since 1970, and the same for the whole call', async () => {
    const [seconds, micros] = (await redis.time()).map(Number);
    const [first, second] = await versions(0);
    expect(first).toBe(second);
    expect(first).toBeGreaterThanOrEqual(seconds! * 1e6 + micros!);
    expect(first).toBeLessThan((seconds! + 60) * 1e6);
  });

  it('grows even if the clock of the server goes back', async () => {
    const ahead = 9_000_000_000_000_000;
    await redis.hset(fixture.keys.views(0, fixture.live.generation), 'all', String(ahead));
    expect(await versions(0)).toEqual([ahead + 1, ahead + 1]);
    expect(await versions(2)).toEqual([ahead + 2, ahead + 2]);
  });

  it('stays when nothing in the view changes', async () => {
    const { keys, live } = fixture;
    await versions(0);
    const before = await redis.hgetall(keys.views(0, live.generation));
    expect(await fixture.apply([scored('a', [0])], { from: 2 })).toEqual([]);
    expect(await redis.hgetall(keys.views(0, live.generation))).toEqual(before);
  });
});

describe('the ranks of an event', () => {
  it('are exact at both ends of the range of a sum, and a sum beyond the range is a dead letter', async () => {
    const max = Number.MAX_SAFE_INTEGER;
    const events = [
      scored('top', [max]),
      scored('next', [max - 1]),
      scored('low', [-max]),
      scored('top', [1]),
      scored('low', [-1]),
      scored('next', [1], { occurredAt: T0 + 1 }),
      scored('next', [-max]),
      scored('next', [-max]),
    ];
    const verdicts = await fixture.apply(events);
    expect(movements(verdicts)).toEqual([
      '- -> 1 (1)',
      '- -> 2 (2)',
      '- -> 3 (3)',
      'SUM_OUT_OF_RANGE',
      'SUM_OUT_OF_RANGE',
      '2 (2) -> 2 (1)',
      '2 (1) -> 2 (2)',
      '2 (2) -> 3 (2)',
    ]);
    const changes = verdicts.flatMap((verdict) =>
      verdict.kind === 'rankChange' ? changesOf(verdict) : [],
    );
    expect(changes.slice(-3)).toMatchObject([
      {
        before: { columns: { points: '9007199254740990' } },
        after: { columns: { points: '9007199254740991' } },
      },
      {},
      { after: { columns: { points: '-9007199254740991' } } },
    ]);
  });

  it.each<[Publish['rankChanges'], Publish['ranks'], string[]]>([
    // At the fourth event, b draws level with a: the competition rank of b changes, the ordinal
    // rank does not.
    [
      'every',
      RANKS,
      ['- -> 1 (1)', '1 (1) -> 1 (1)', '- -> 2 (2)', '2 (2) -> 2 (1)', '2 (1) -> 1 (1)'],
    ],
    ['every', ['ordinal'], ['- -> 1', '1 -> 1', '- -> 2', '2 -> 2', '2 -> 1']],
    ['moved', RANKS, ['- -> 1 (1)', '- -> 2 (2)', '2 (2) -> 2 (1)', '2 (1) -> 1 (1)']],
    ['moved', ['ordinal'], ['- -> 1', '- -> 2', '2 -> 1']],
    ['none', RANKS, []],
  ])('are published as rankChanges %s and ranks %j say', async (rankChanges, ranks, expected) => {
    const publish = { ...arena.publish, rankChanges, ranks };
    fixture = await new StoreFixture(redis, newKeys()).register({ ...arena, publish });
    const events = ['a', 'a', 'b', 'b', 'b'].map((playerId) => scored(playerId, [1]));
    expect(movements(await fixture.apply(events))).toEqual(expected);
  });
});

describe('registering', () => {
  it('gives a board one generation, even if the board is registered again with another definition', async () => {
    const again = await fixture.store.registerBoards([{ ...arena, ties: 'none' }]);
    expect(again.live).toEqual(new Map([['arena', fixture.live]]));
    expect(await fixture.store.boards()).toEqual(again);
  });

  it('gives no generation to a new board once events were applied', async () => {
    await fixture.apply([scored('a', [1])]);
    const { live, building } = await fixture.store.registerBoards([{ ...arena, board: 'late' }]);
    expect([...live.keys(), ...building]).toEqual(['arena', 'late']);
    const call = fixture.call([scored('a', [1])], { from: 1 });
    expect(await fixture.store.apply(call)).toEqual({ status: 'generationChanged' });
    await fixture.refresh();
    const later = fixture.call([scored('a', [1])], { from: 1 });
    expect(await fixture.store.apply(later)).toMatchObject({ status: 'applied' });
  });

  it('gives no generation to a board whose definition is lost, once events were applied', async () => {
    await fixture.apply([scored('a', [1])]);
    await redis.del(fixture.keys.definitions(0));
    const { live, building } = await fixture.store.registerBoards([arena]);
    expect([...live.keys(), ...building]).toEqual(['arena']);
    expect([...building]).toEqual(['arena']);
  });
});
