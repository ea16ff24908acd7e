import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveEvent, viewToRead, windowName, type BoardDefinition, type Window } from '#board';
import { BoardReader, StoreStatus, ExpiredViewError } from '#board-store';
import { PROPERTY_TIMEOUT, runs, timeArbitrary } from '../model/arbitrary.js';
import { DAILY } from '../model/definitions.js';
import { instanceAt } from '../model/oracle-windows.js';
import { arena, StoreFixture, T0 } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const DAY = 86_400_000;

/** A board to which events of one point each are applied, one by one. */
class ScoredBoard {
  #offset = 0;

  private constructor(
    readonly definition: BoardDefinition,
    readonly fixture: StoreFixture,
    readonly reader: BoardReader,
  ) {}

  static async of(fields: Partial<BoardDefinition>): Promise<ScoredBoard> {
    const definition = { ...arena, maxAheadMs: 10_000 * DAY, ...fields };
    const fixture = await new StoreFixture(redis, newKeys()).register(definition);
    return new ScoredBoard(
      definition,
      fixture,
      new BoardReader({ redis, prefix: fixture.keys.prefix }),
    );
  }

  async score(playerId: string, occurredAt: number) {
    const input = { playerId, delta: '1', occurredAt, attributes: {} };
    const resolved = resolveEvent(this.definition, input, occurredAt);
    if (!resolved.ok) throw new Error(resolved.detail);
    await this.fixture.apply([resolved.event], { from: this.#offset++ });
  }

  /** The players in the view that `window` names at a time. */
  async players(window: string, at: number): Promise<string[]> {
    const { view } = viewToRead(this.definition, { window, where: [] }, at);
    const { entries } = await this.reader.standings('arena', { view });
    return entries.map(({ playerId }) => playerId);
  }
}

describe('a view that has expired', () => {
  const windows: Window[] = [{ kind: 'all' }, { kind: 'day', keepMs: DAY }];
  const expiresAt = Date.parse('2026-11-22T00:00:00Z');

  it('is gone for readers once another event advances the clock; two concurrent sweeps remove it once', async () => {
    const board = await ScoredBoard.of({ windows });
    const { reader, fixture } = board;
    const [view, withoutPlayers] = ['day:2026-11-20', 'day:2026-11-19'];
    await board.score('ada', T0);
    await board.score('bob', expiresAt - 1);
    expect(await board.players(view, T0)).toEqual(['ada']);

    await board.score('bob', expiresAt);
    for (const swept of [false, true]) {
      const sweep = () => fixture.store.sweep(fixture.live);
      if (swept) expect((await Promise.all([sweep(), sweep()])).sort()).toEqual([0, 1]);
      const key = fixture.keys.ranking(0, fixture.live.generation, view);
      expect(await redis.exists(key)).toBe(swept ? 0 : 1);
      const expired = { constructor: ExpiredViewError, board: 'arena', view, expiresAt };
      const facts = expect.objectContaining({ ...expired, clock: expiresAt });
      await expect(reader.standings('arena', { view })).rejects.toThrow(facts);
      await expect(reader.player('arena', 'ada', { view })).rejects.toThrow(facts);
      const reading = reader.player('arena', 'ada', { view: withoutPlayers });
      await expect(reading).rejects.toThrow(ExpiredViewError);
      const views = (await reader.views('arena')).map((one) => one.view);
      expect(views).toEqual(['all', 'day:2026-11-21', 'day:2026-11-22']);
      expect(await new StoreStatus(redis, fixture.keys).overviews()).toMatchObject([
        { views: 3, clock: expiresAt },
      ]);
    }
  });

  it('is not swept once its generation is neither live nor a shadow', async () => {
    const board = await ScoredBoard.of({ windows });
    const { keys, live, store } = board.fixture;
    await board.score('ada', T0);
    await board.score('ada', expiresAt);
    await redis.hset(keys.live(0), 'arena', 'another');
    const before = await dumpKeys(redis, keys);
    expect(await store.sweep(live)).toBe(0);
    expect(await dumpKeys(redis, keys)).toEqual(before);
  });
});

describe('the windows of a reader', () => {
  const windows: Window[] = [
    { kind: 'day' },
    { kind: 'week' },
    { kind: 'month' },
    { kind: 'year' },
    { kind: 'interval', name: 'contest', cron: DAILY.cron, start: Date.parse('2025-01-01T00:00Z') },
  ];
  const zones = [
    'UTC',
    'Europe/Paris',
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
  ];

  /**
   * Checks who is in the window instance that contains a time: by its own name or the window's, as
   * `current` or `previous`.
   */
  async function compare(board: ScoredBoard, scores: readonly Score[], window: Window, at: number) {
    const { text, end } = instanceAt(window, at, board.definition)!;
    const scorers = scores
      .filter(({ time }) => instanceAt(window, time, board.definition)?.text === text)
      .map(({ playerId }) => playerId);
    const mark = window.kind === 'interval' ? '@' : ':';
    const name = windowName(window);
    const found = await Promise.all([
      board.players(text, 0),
      board.players(name, end - 1),
      board.players(`${name}${mark}current`, at),
      board.players(`${name}${mark}previous`, end),
    ]);
    expect(found.map((players) => players.sort())).toEqual(found.map(() => scorers.sort()));
  }

  it(
    'have the players who scored in them, by the time zone of the board: as `current` until they end, then as `previous`',
    async () => {
      const times = fc.uniqueArray(timeArbitrary, { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...zones), times, async (timeZone, instants) => {
          const board = await ScoredBoard.of({ timeZone, windows });
          const scores = instants.map((time, index) => ({ playerId: `p${index}`, time }));
          for (const { playerId, time } of scores) await board.score(playerId, time);
          for (const window of windows)
            for (const { time } of scores) await compare(board, scores, window, time);
        }),
        runs(25),
      );
    },
    PROPERTY_TIMEOUT,
  );
});

interface Score {
  readonly playerId: string;
  readonly time: number;
}
