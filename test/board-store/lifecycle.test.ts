import { afterAll, describe, expect, it } from '@jest/globals';
import { resolveEvent, type BoardDefinition, type Publish, type ScoreInput } from '#board';
import type { ApplyCall, Verdict } from '#board-store';
import { arena, movements, StoreFixture, T0 } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const DAY = 86_400_000;
const NEVER_TOO_FAR = 10_000 * DAY;

/** A board that events are resolved against, as ingest does it. */
class Board {
  #offset = 0;

  private constructor(
    readonly fixture: StoreFixture,
    readonly definition: BoardDefinition,
  ) {}

  static async of(fields: Partial<BoardDefinition>): Promise<Board> {
    const definition = { ...arena, maxAheadMs: NEVER_TOO_FAR, ...fields };
    return new Board(await new StoreFixture(redis, newKeys()).register(definition), definition);
  }

  async apply(
    inputs: readonly Input[],
    fields: Partial<ApplyCall> & { from?: number } = {},
  ): Promise<Verdict[]> {
    const events = inputs.map((input) => {
      const resolved = resolveEvent(
        this.definition,
        { playerId: 'a', attributes: {}, ...(input.deltas ? {} : { delta: '1' }), ...input },
        T0,
      );
      if (!resolved.ok) throw new Error(resolved.rejection.detail);
      return resolved.event;
    });
    const from = this.#offset;
    this.#offset += events.length;
    return [...(await this.fixture.apply(events, { from, ...fields }))];
  }

  /** The verdict of each event: the code of a dead letter, or the number of changed views. */
  async outcomes(inputs: readonly Input[]): Promise<(string | number)[]> {
    return (await this.apply(inputs)).map((verdict) =>
      verdict.kind === 'deadLetter'
        ? verdict.code
        : verdict.kind === 'rankChange'
          ? verdict.changes.length
          : verdict.kind,
    );
  }

  async views(): Promise<string[]> {
    const { keys, live } = this.fixture;
    return (await redis.hkeys(keys.views(0, live.generation))).sort();
  }

  facts() {
    return this.fixture.store.facts(this.fixture.live);
  }

  sweep() {
    return this.fixture.store.sweep(this.fixture.live);
  }
}
type Input = Partial<Omit<ScoreInput, 'occurredAt'>> & { occurredAt?: number };

const dayAndAll: Partial<BoardDefinition> = {
  windows: [{ kind: 'all' }, { kind: 'day', keepMs: DAY }],
};
const dayOnly: Partial<BoardDefinition> = { windows: [{ kind: 'day', keepMs: DAY }] };

describe('a view with keep', () => {
  it('is skipped by events once the clock reaches the end of its window + keep', async () => {
    const board = await Board.of(dayAndAll);
    const end = Date.parse('2026-11-21T00:00:00Z');
    expect(await board.outcomes([{ occurredAt: T0 }])).toEqual([2]);
    expect(await board.outcomes([{ occurredAt: end + DAY - 1 }, { occurredAt: T0 }])).toEqual([
      2, 2,
    ]);
    expect(await board.outcomes([{ occurredAt: end + DAY }, { occurredAt: T0 }])).toEqual([2, 1]);
    expect(await board.facts()).toEqual({ clock: end + DAY, expired: 1, duplicates: 0 });
  });

  it('makes an event without another view a dead letter, which changes nothing', async () => {
    const board = await Board.of(dayOnly);
    await board.apply([{ occurredAt: T0 + 3 * DAY }]);
    const [verdict] = await board.apply([{ occurredAt: T0 }]);
    expect(verdict).toMatchObject({ kind: 'deadLetter', code: 'WINDOW_EXPIRED' });
    expect(await board.views()).toEqual(['day:2026-11-23']);
    expect(await board.facts()).toMatchObject({ expired: 1 });
  });

  it('only counts such events with late: count', async () => {
    const board = await Board.of({ ...dayOnly, late: 'count' });
    expect(await board.outcomes([{ occurredAt: T0 + 3 * DAY }, { occurredAt: T0 }])).toEqual([1]);
    expect(await board.facts()).toMatchObject({ expired: 1 });
  });

  it('is removed by a sweep, which keeps the other views', async () => {
    const board = await Board.of({ ...dayAndAll, publish: { ...arena.publish, leaders: 1 } });
    const { keys, live } = board.fixture;
    await board.apply([{ occurredAt: T0 }]);
    expect(await board.sweep()).toBe(0);
    await board.apply([{ occurredAt: T0 + 3 * DAY }], { published: 0 });
    expect(await board.sweep()).toBe(1);
    expect(await board.views()).toEqual(['all', 'day:2026-11-23']);
    const left = Object.keys(await dumpKeys(redis, keys));
    expect(left.filter((key) => key.includes('2026-11-20'))).toEqual([]);
    expect(await redis.hkeys(keys.leaders(0, 'arena'))).toEqual(['all', 'day:2026-11-23']);
    expect(await redis.zrange(keys.expiries(0, live.generation), 0, -1)).toEqual([
      'day:2026-11-23',
    ]);
    expect(await board.outcomes([{ occurredAt: T0 }])).toEqual([1, 'leaderChange']);
  });

  it('is removed once by two sweeps at the same time', async () => {
    const board = await Board.of(dayAndAll);
    await board.apply([{ occurredAt: T0 }, { occurredAt: T0 + 3 * DAY }]);
    const both = await Promise.all([board.sweep(), board.sweep()]);
    expect(both.sort()).toEqual([0, 1]);
  });

  it('is not swept once its generation is neither live nor being built', async () => {
    const board = await Board.of(dayAndAll);
    const { keys } = board.fixture;
    await board.apply([{ occurredAt: T0 }, { occurredAt: T0 + 3 * DAY }]);
    await redis.hset(keys.live(0), 'arena', 'another');
    const before = await dumpKeys(redis, keys);
    expect(await board.sweep()).toBe(0);
    expect(await dumpKeys(redis, keys)).toEqual(before);
  });
});

describe('maxViews', () => {
  const guilds: Partial<BoardDefinition> = { dimensions: [['guild']], maxViews: 2 };
  const of = (guild: string | string[], occurredAt = T0): Input => ({
    attributes: { guild },
    occurredAt,
  });

  it('refuses an event that would make more views, as a whole', async () => {
    const board = await Board.of(guilds);
    const events = [of('x'), of(['y', 'z']), of('y'), of('z'), of(['x', 'y'])];
    expect(await board.outcomes(events)).toEqual([1, 'TOO_MANY_VIEWS', 1, 'TOO_MANY_VIEWS', 2]);
    expect(await board.views()).toEqual(['all guild=x', 'all guild=y']);
  });

  it('does not count views that have expired, swept or not', async () => {
    const board = await Board.of({ ...guilds, ...dayOnly });
    expect(await board.outcomes([of('x'), of('y'), of('z'), of('z', T0 + 3 * DAY)])).toEqual([
      1,
      1,
      'TOO_MANY_VIEWS',
      1,
    ]);
  });
});

describe('deduplicate', () => {
  const hour = { deduplicateMs: 3_600_000 };
  const at = (minutes: number, eventId = 'e'): Input => ({
    eventId,
    occurredAt: T0 + minutes * 60_000,
  });

  it('drops a second event with the same id within the span, and counts it', async () => {
    const board = await Board.of(hour);
    expect(await board.outcomes([at(0), at(0), at(59), at(60)])).toEqual([1, 1]);
    expect(await board.facts()).toMatchObject({ duplicates: 2 });
  });

  it('compares ids of one player only, and needs an id', async () => {
    const board = await Board.of(hour);
    const events = [at(0), { ...at(0), playerId: 'b' }, at(0, 'f'), { occurredAt: T0 }];
    expect(await board.outcomes([...events, { occurredAt: T0 }])).toEqual([1, 1, 1, 1, 1]);
  });

  it('applies events older than the span, and does not store their ids', async () => {
    const board = await Board.of(hour);
    expect(await board.outcomes([at(120, 'other'), at(60), at(60), at(61), at(61)])).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('stores only the ids of the span', async () => {
    const board = await Board.of(hour);
    await board.apply(Array.from({ length: 300 }, (_, minute) => at(minute, `e-${minute}`)));
    const { keys, live } = board.fixture;
    expect(await redis.zcard(keys.eventIds(0, live.generation, 0))).toBe(60);
  });

  it('gives the same verdict when a call is repeated', async () => {
    const board = await Board.of(hour);
    const verdicts = await board.apply([at(0), at(1)]);
    const again = await board.apply([at(0), at(1)], { from: 0, believed: 1, through: 1 });
    expect(verdicts).toHaveLength(1);
    expect(again).toEqual(verdicts);
    expect(await board.facts()).toMatchObject({ duplicates: 1 });
  });
});

describe('a rank change', () => {
  it('has only the published views', async () => {
    const publish = { ...arena.publish, windows: ['day'] };
    const board = await Board.of({ ...dayAndAll, publish });
    const [verdict] = await board.apply([{}]);
    expect(verdict).toMatchObject({ changes: [{ view: 'day:2026-11-20' }] });
  });

  it('is published for every event, for moved ranks or never, as the board says', async () => {
    const events = [{}, {}, { playerId: 'b' }, { playerId: 'b' }, { playerId: 'b' }];
    const moved = await Board.of({ publish: { ...arena.publish, rankChanges: 'moved' } });
    // b draws level with a at the third event: the competition rank changes, the rank does not.
    expect(movements(await moved.apply(events))).toEqual([
      '- -> 1 (1)',
      '- -> 2 (2)',
      '2 (2) -> 2 (1)',
      '2 (1) -> 1 (1)',
    ]);
    const none = await Board.of({ publish: { ...arena.publish, rankChanges: 'none' } });
    expect(await none.apply(events)).toEqual([]);
  });

  it('has the competition rank only if the board asks for it; else only positions count as moves', async () => {
    const events = [{}, {}, { playerId: 'b' }, { playerId: 'b' }, { playerId: 'b' }];
    const ranks: Publish['ranks'] = ['ordinal'];
    const every = await Board.of({ publish: { ...arena.publish, ranks } });
    expect(movements(await every.apply(events))).toEqual([
      '- -> 1',
      '1 -> 1',
      '- -> 2',
      '2 -> 2',
      '2 -> 1',
    ]);
    const moved = await Board.of({ publish: { ...arena.publish, ranks, rankChanges: 'moved' } });
    expect(movements(await moved.apply(events))).toEqual(['- -> 1', '- -> 2', '2 -> 1']);
  });

  it('names the players who were passed, best first', async () => {
    const board = await Board.of({ publish: { ...arena.publish, overtook: 2 } });
    const score = (playerId: string, delta: string): Input => ({ playerId, delta });
    await board.apply([score('a', '4'), score('b', '3'), score('c', '2'), score('d', '1')]);
    const [verdict] = await board.apply([score('d', '9')]);
    expect(verdict).toMatchObject({
      changes: [
        {
          before: { rank: 4 },
          after: { rank: 1 },
          overtook: [
            { playerId: 'a', rankBefore: 1, rankAfter: 2 },
            { playerId: 'b', rankBefore: 2, rankAfter: 3 },
          ],
        },
      ],
    });
    const [entered] = await board.apply([score('e', '3')]);
    expect(entered).toMatchObject({
      changes: [{ before: null, after: { rank: 4 }, overtook: [{ playerId: 'c', rankBefore: 4 }] }],
    });
    const [fell] = await board.apply([score('d', '-100')]);
    expect(JSON.stringify(fell)).not.toContain('overtook');
  });
});

describe('leader changes', () => {
  const top2 = { publish: { ...arena.publish, leaders: 2, rankChanges: 'none' as const } };
  const score = (playerId: string, delta: string): Input => ({ playerId, delta });

  it('have the new top once for a call and view, after its last event', async () => {
    const board = await Board.of(top2);
    const verdicts = await board.apply([score('a', '5'), score('b', '5'), score('c', '1')]);
    expect(verdicts).toEqual([
      {
        kind: 'leaderChange',
        offset: 2,
        generation: board.fixture.live.generation,
        view: 'all',
        version: expect.any(Number),
        since: null,
        top: [
          { playerId: 'a', rank: 1, competitionRank: 1, columns: { points: '5' } },
          { playerId: 'b', rank: 2, competitionRank: 1, columns: { points: '5' } },
        ],
        before: [],
      },
    ]);
    const [next] = await board.apply([score('c', '5')]);
    expect(next).toMatchObject({
      since: verdicts[0]?.kind === 'leaderChange' ? verdicts[0].version : undefined,
      top: [{ playerId: 'c' }, { playerId: 'a', competitionRank: 2 }],
      before: ['a', 'b'],
    });
  });

  it('are not published if the top is the same', async () => {
    const board = await Board.of(top2);
    await board.apply([score('a', '5'), score('b', '5'), score('c', '1')]);
    expect(await board.apply([score('c', '1')])).toEqual([]);
  });

  it('are not published by muted calls; a later call reports the difference', async () => {
    const board = await Board.of(top2);
    const muted = await board.apply([score('a', '5'), score('b', '4')], { published: 2 });
    expect(muted).toEqual([]);
    const [next] = await board.apply([score('c', '1'), score('b', '3')], { published: 2 });
    expect(next).toMatchObject({ since: null, top: [{ playerId: 'b' }, { playerId: 'a' }] });
  });

  it('show negative, ascending and further columns as decimals of the definition', async () => {
    const board = await Board.of({
      ...top2,
      columns: [
        { name: 'par', update: 'sum', order: 'asc', decimals: 1 },
        { name: 'bonus', update: 'sum', order: 'desc', decimals: 0 },
      ],
    });
    const deltas = { par: '-3.5', bonus: '-9007199254740991' };
    const [verdict] = await board.apply([{ deltas }]);
    expect(verdict).toMatchObject({ top: [{ columns: deltas }] });
  });
});
