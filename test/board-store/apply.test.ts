import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BoardReader, BoardStore, OtherIdentityError } from '#board-store';
import { arena, lasting, movements, scored, StoreFixture, T0, verdictsOf } from './fixture.js';
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

describe('an apply call that is refused writes nothing:', () => {
  it.each([
    ['the caller believes in another version of the boards', async () => {}],
    ['the pointers are gone', () => redis.del(fixture.keys.live(0))],
  ])('%s', async (name, lose) => {
    await fixture.apply([scored('a', [1])]);
    const version = name.includes('gone') ? fixture.version : '1';
    await lose();
    await expectNothingWritten(async () => {
      for (const events of [[], [scored('a', [1])]]) {
        const outcome = await fixture.store.apply(fixture.call(events, { from: 1, version }));
        expect(outcome).toEqual({ status: 'generationChanged' });
      }
    });
  });

  it('the applied offset is smaller than the caller believes', async () => {
    await fixture.apply([scored('a', [1]), scored('b', [1])]);
    await redis.hset(fixture.keys.appliedOffsets(0), '0', '0');
    await expectNothingWritten(async () => {
      const outcome = await fixture.store.apply(fixture.call([scored('a', [1])], { from: 2 }));
      expect(outcome).toEqual({ status: 'rolledBack' });
    });
  });

  it('the applied offset is gone', async () => {
    await expectNothingWritten(async () => {
      const outcome = await fixture.store.apply(fixture.call([], { believed: 0, through: 0 }));
      expect(outcome).toEqual({ status: 'rolledBack' });
    });
  });

  it.each([
    ['1', 'a record', [scored('c', [1])], 3],
    ['1', 'no record', [], 3],
    ['-1', 'the first record', [scored('c', [1])], 1],
  ])('the applied offset is %s, and a run with %s begins at an offset too far', async (...row) => {
    const [appliedOffset, , events, from] = row;
    if (appliedOffset === '1') await fixture.apply([scored('a', [1]), scored('b', [1])]);
    await expectNothingWritten(async () => {
      const call = fixture.call(events, { from, believed: Number(appliedOffset) });
      expect(await fixture.store.apply(call)).toEqual({ status: 'gap' });
    });
  });

  it('an event belongs to a board that the call does not list', async () => {
    await expectNothingWritten(async () => {
      const call = fixture.call([scored('a', [1])], { boards: new Map() });
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

  it('without entries advances the applied offset and the published position, and trims the outbox', async () => {
    const { keys, store } = fixture;
    await fixture.apply([scored('a', [1]), scored('a', [1]), scored('a', [1])]);
    const outcome = await store.apply(fixture.call([], { from: 3, published: 2, through: 9 }));
    expect(outcome).toEqual({ status: 'applied', appliedOffset: 9, verdicts: [] });
    expect(await store.appliedOffsets(0)).toEqual([9]);
    expect(await store.publishedPosition(0)).toBe(2);
    expect(await redis.zcard(keys.outbox(0, 0))).toBe(1);
  });

  it('keeps partitions apart', async () => {
    await fixture.apply([scored('a', [1])]);
    const other = await fixture.apply([scored('b', [2])], { partition: 7 });
    expect(movements(other)).toEqual(['- -> 1 (1)']);
    expect(await fixture.store.appliedOffsets(0)).toEqual([0]);
    expect(await fixture.store.appliedOffsets(7)).toEqual([0]);
    expect(await fixture.store.appliedOffsets(8)).toEqual([-1]);
  });

  it('returns dead letters unchanged, and again until they are published', async () => {
    const detail = 'line one\nline two\twith "quotes", é and \u{1F600}';
    const entry = { kind: 'deadLetter', offset: 4, code: 'INVALID_JSON', detail } as const;
    const call = { ...fixture.call([], { through: 4, believed: -1 }), entries: [entry] };
    expect(verdictsOf(await fixture.store.apply(call))).toEqual([entry]);
    expect(verdictsOf(await fixture.store.apply({ ...call, published: 4 }))).toEqual([entry]);
    expect(verdictsOf(await fixture.store.apply({ ...call, published: 5 }))).toEqual([]);
  });

  it('returns only verdicts of the outbox below the applied offset, whatever the entries are', async () => {
    const first = await fixture.apply([scored('a', [5]), scored('b', [0]), scored('b', [0])]);
    const again = await fixture.apply([scored('x', [9]), scored('y', [9]), scored('z', [9])]);
    expect(again).toEqual(first);
    expect(await redis.zcard(fixture.keys.ranking(0, fixture.live.generation, 'all'))).toBe(2);
  });

  it('below the published position changes the board, and neither returns nor stores a verdict', async () => {
    const { keys, live } = fixture;
    const muted = await fixture.apply([scored('a', [1]), scored('b', [3])], { published: 2 });
    expect(muted).toEqual([]);
    expect(await redis.exists(keys.outbox(0, 0))).toBe(0);
    expect(
      await redis.zrange(keys.ranking(0, live.generation, 'all'), 0, -1, 'WITHSCORES'),
    ).toEqual([expect.stringMatching(/b$/), '-3', expect.stringMatching(/a$/), '-1']);
    expect(movements(await fixture.apply([scored('a', [3])], { from: 2, published: 2 }))).toEqual([
      '2 (2) -> 1 (1)',
    ]);
  });

  it('may have 500 events of 4 views', async () => {
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
      verdict.kind === 'rankChange' ? verdict.changes.map(({ version }) => version) : [],
    );

  it('is the time of the server in us, one for each call', async () => {
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
  it.each(['desc', 'asc'] as const)(
    'follow the bytes of the player ids if all else is equal, in a column that is %s',
    async (order) => {
      const ids = ['B', 'Z', 'a', 'aa', 'e\u0301', 'é', '\uFFFD', '\u{1F600}'];
      const columns = arena.columns.map((column) => ({ ...column, order }));
      fixture = await new StoreFixture(redis, newKeys()).register({ ...arena, columns });
      const events = [...ids].reverse().map((playerId) => scored(playerId, [7]));
      expect(movements(await fixture.apply(events))).toEqual(ids.map(() => '- -> 1 (1)'));
      const { entries } = await new BoardReader(redis, fixture.keys).standings('arena', 'all', {
        offset: 0,
        limit: 100,
      });
      expect(entries.map(({ playerId }) => playerId)).toEqual(ids);
    },
  );

  it('order ties by reach time, as the definition says', async () => {
    for (const [ties, expected] of [
      ['earliest', ['- -> 1 (1)', '- -> 2 (1)', '- -> 1 (1)']],
      ['latest', ['- -> 1 (1)', '- -> 1 (1)', '- -> 3 (1)']],
      ['none', ['- -> 1 (1)', '- -> 1 (1)', '- -> 3 (1)']],
    ] as const) {
      fixture = await new StoreFixture(redis, newKeys()).register({ ...arena, ties });
      const events = [
        scored('m', [7], { occurredAt: T0 }),
        scored('b', [7], { occurredAt: T0 + 1 }),
        scored('z', [7], { occurredAt: T0 - 1 }),
      ];
      expect(movements(await fixture.apply(events))).toEqual(expected);
    }
  });

  it('are exact at both ends of the range, and a sum beyond them is a dead letter', async () => {
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
    expect(verdicts[5]).toMatchObject({
      changes: [
        {
          before: { columns: { points: '9007199254740990' } },
          after: { columns: { points: '9007199254740991' } },
        },
      ],
    });
    expect(verdicts.at(-1)).toMatchObject({
      changes: [{ after: { columns: { points: '-9007199254740991' } } }],
    });
  });

  it('are reported only for changed views, and a sum that overflows in one view changes none', async () => {
    const max = Number.MAX_SAFE_INTEGER;
    await fixture.apply([scored('a', [max], { views: lasting('all x=1') })]);
    await expectOneDeadLetter(() =>
      fixture.apply([scored('a', [1], { views: lasting('all', 'all x=1') })], { from: 1 }),
    );
    const [verdict] = await fixture.apply(
      [scored('a', [0], { views: lasting('all', 'all x=1') })],
      {
        from: 2,
      },
    );
    expect(verdict).toMatchObject({ kind: 'rankChange', changes: [{ view: 'all', before: null }] });
  });

  async function expectOneDeadLetter(apply: () => Promise<readonly unknown[]>): Promise<void> {
    const { keys, live } = fixture;
    expect(await apply()).toEqual([
      expect.objectContaining({ kind: 'deadLetter', code: 'SUM_OUT_OF_RANGE' }),
    ]);
    expect(await redis.hkeys(keys.views(0, live.generation))).toEqual(['all x=1']);
  }
});

describe('registering', () => {
  it('gives a board one generation, even if repeated with another definition', async () => {
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

  it('gives no generation to a board whose definition is lost', async () => {
    await fixture.apply([scored('a', [1])]);
    await redis.del(fixture.keys.definitions(0));
    const { live, building } = await fixture.store.registerBoards([arena]);
    expect([...live.keys(), ...building]).toEqual(['arena']);
    expect([...building]).toEqual(['arena']);
  });

  it('refuses another number of shards', async () => {
    const other = new BoardStore(redis, fixture.keys, { shards: 2 });
    await expect(other.claim()).rejects.toThrow(
      expect.objectContaining({ constructor: OtherIdentityError, isMovable: false }),
    );
    await fixture.store.claim();
  });
});
