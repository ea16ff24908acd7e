import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stateOf } from '../model/oracle-format.js';
import { until } from '../support/instance.js';
import { Scene } from '../reconciliation/sandbox.js';

const BOARDS = `boards:
  arena:
    columns: [{ name: score, update: best, decimals: 1 }]
    dimensions: [[], [region]]
  daily:
    columns: [{ name: points }]
    timeZone: Europe/Paris
    windows: [all, year]
    dimensions: [[], [region]]
`;
const GHOST = stateOf(-5_000, Date.parse('2026-01-01'));
const FIRST = Date.parse('2026-01-01T00:00:00Z');
/** One of ten events is for "daily"; each player has ten events in a row. */
const event = (serial: number) => ({
  board: serial % 10 === 0 ? 'daily' : 'arena',
  playerId: `p-${Math.floor(serial / 10) % 50}`,
  delta: String((serial * 37) % 101),
  occurredAt: new Date(FIRST + serial * 1_000).toISOString(),
  attributes: { region: ['eu', 'us', 'asia'][serial % 3]! },
});

describe('boards verify and snapshot', () => {
  let scene: Scene;
  /** A time after the first 300 events, and before the others. */
  let between: string;
  const ranklog = (...args: string[]) => scene.ranklog(...args);
  const liveArena = async () => (await scene.sandbox.live('arena')).generation;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { partitions: 2, sent: 300 });
    between = new Date().toISOString();
    await until(() => Date.now() > Date.parse(between), 'the next ms');
    await scene.send(900);
  });
  afterAll(() => scene.close());

  it('verify has exit code 0 while events come in, and says what was compared', async () => {
    const sending = scene.traffic.send(2_000);
    const { code, out, err } = await ranklog('boards', 'verify');
    await sending;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^arena: equal to the log; 200 place\(s\) in 4 view\(s\) compared/);
    expect(out).toMatch(/^daily: equal to the log; \d+ place\(s\) in 8 view\(s\) compared/m);
  });

  it('verify lists each difference by view and player, in decimals, and has exit code 1; rebuild repairs it', async () => {
    await scene.send(0);
    const { redis, keys } = scene.sandbox;
    const damaged = await liveArena();
    const players = (view: string) => keys.players(0, damaged, view);
    await redis.hset(players('all'), 'p-1', stateOf(-1_230));
    await redis.hset(players('all'), 'ghost', GHOST);
    await redis.hdel(players('all region=eu'), 'p-0');
    await redis.zpopmax(keys.ranking(0, damaged, 'all region=us'));

    const { code, out } = await ranklog('boards', 'verify', 'arena', 'daily');
    expect(code).toBe(1);
    expect(out).toMatch(/^arena: \d+ difference\(s\) to the log; /);
    expect(out).toMatch(/^all +columns +p-1 +score \d+\.\d at \S+ +score 123\.0 at \S+$/m);
    expect(out).toMatch(
      /^all +extra player +ghost +- +score 500\.0 at 2026-01-01T00:00:00\.000Z$/m,
    );
    expect(out).toMatch(/^all region=eu +missing player +p-0 +score \d+\.\d at \S+ +-$/m);
    expect(out).toMatch(/^all region=us +order +p-\d+ /m);
    expect(out).toMatch(/^daily: equal to the log/m);

    const [report] = await scene.json<{ differences: object[] }[]>('boards', 'verify', 'arena');
    expect(report).toMatchObject({ board: 'arena', equal: false, views: 4 });
    expect(report?.differences).toContainEqual({
      view: 'all',
      kind: 'extra',
      playerId: 'ghost',
      expected: null,
      found: { columns: { score: '500.0' }, reachedAt: '2026-01-01T00:00:00.000Z' },
    });
    expect(await ranklog('boards', 'rebuild', 'arena')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`"ranklog boards rollback arena" returns to ${damaged}`),
    });
    expect((await ranklog('boards', 'verify')).code).toBe(0);
  });

  it('snapshot keeps the board as it was at a time, in addition to the live one, until it is discarded', async () => {
    const { code, out } = await ranklog('boards', 'snapshot', 'daily', '--until', between);
    expect(code).toBe(0);
    const readIt = /^to read it: ranklog standings daily --generation (\d+-[0-9a-f]{12})$/m;
    const [, generation = ''] = readIt.exec(out) ?? [];
    const at = ['--generation', generation];
    const [then, now, rank, views] = await Promise.all([
      scene.json('standings', 'daily', ...at),
      scene.json('standings', 'daily'),
      scene.json('rank', 'daily', 'p-3', '--window', 'year:2026', ...at),
      scene.json('views', 'daily', ...at),
    ]);
    expect([then, now]).toMatchObject([{ size: 30 }, { size: 50 }]);
    expect(rank).toMatchObject({ places: [{ view: 'year:2026', size: 30 }] });
    expect(views).toContainEqual(expect.objectContaining({ view: 'all region=eu', size: 10 }));
    const listed = { board: 'daily', generation, role: 'snapshot', since: null, keptUntil: null };
    expect(await scene.json('boards', 'generations')).toContainEqual({
      ...listed,
      asOf: between,
      startsAt: null,
    });
    expect((await ranklog('boards', 'generations')).out).toMatch(
      new RegExp(`^daily +snapshot +${generation} +- +- +${between} +all$`, 'm'),
    );

    expect(await ranklog('boards', 'discard', generation)).toMatchObject({
      code: 0,
      out: `${generation}: discarded\n`,
    });
    expect(await scene.sandbox.redis.keys(`*${generation}*`)).toEqual([]);
    expect(await ranklog('standings', 'daily', ...at)).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no generation'),
    });
    expect(await ranklog('boards', 'discard', generation)).toMatchObject({
      code: 1,
      err: expect.stringContaining('nor the shadow of a killed reconciliation'),
    });
  });

  it('snapshot takes a date as the start of that day in the zone of the board', async () => {
    const { out, err } = await ranklog('boards', 'snapshot', 'daily', '--until', '2026-01-01');
    expect(err).toBe('ranklog: building daily as it was at 2025-12-31T23:00:00.000Z\n');
    expect(out).toMatch(/^daily as it was at 2025-12-31T23:00:00\.000Z: /);
    const [, generation = ''] = /generation (\S+)\n/.exec(out) ?? [];
    const read = await scene.json('standings', 'daily', '--generation', generation);
    expect(read).toMatchObject({ size: 0 });
  });

  it.each([
    [['verify', 'arana'], 1, 'did you mean arena?'],
    [['snapshot', 'arena', '--until', '2999-01-01'], 2, '2999-01-01 is in the future'],
    [['snapshot', 'arena', '--until', 'yesterday'], 2, 'use a date, or a time such as'],
    [['snapshot', 'arena'], 2, "required option '--until <time>' not specified"],
    [['rebuild', 'arena', '--from', '2999-01-01T00:00:00Z'], 2, 'is in the future'],
    [['rebuild', 'arena', 'daily', '--from', '2026-01-01'], 2, 'several: UTC, Europe/Paris'],
    [['rebuild', 'arena', '--from', 'stat'], 2, 'or "start"'],
  ])('boards %j has exit code %i, and the error says: %s', async (args, code, word) => {
    expect(await ranklog('boards', ...args)).toMatchObject({
      code,
      err: expect.stringContaining(word),
    });
  });

  it('discard refuses a live generation', async () => {
    expect(await ranklog('boards', 'discard', await liveArena())).toMatchObject({
      code: 1,
      err: expect.stringContaining("so it can't be discarded"),
    });
  });
});
