import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const BOARDS = `boards:
  arena:
    columns: [{ name: score, update: best, decimals: 1 }]
    dimensions: [[], [region]]
  daily: { columns: [{ name: points }] }
`;
const GHOST = '-5000@1767225600000';

describe('boards verify', () => {
  let sandbox: BoardsSandbox;
  let keys: KeySpace;
  const players = async (view: string) =>
    keys.players(0, await sandbox.liveGeneration('arena'), view);
  const ranking = async (view: string) =>
    keys.ranking(0, await sandbox.liveGeneration('arena'), view);

  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(BOARDS);
    keys = new KeySpace(sandbox.instance.name);
    await sandbox.instance.start();
    await sandbox.publish([...eventsOf('arena', 900), ...eventsOf('daily', 100)]);
  });
  afterAll(() => sandbox.remove());

  it('ends with 0 while events come in, and says what was compared', async () => {
    const sending = sandbox.send(eventsOf('arena', 2_000));
    const { code, out, err } = await sandbox.ranklog('boards', 'verify');
    await sending;
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^arena: equal to the log; 200 place\(s\) in 4 view\(s\) compared/);
    expect(out).toMatch(/^daily: equal to the log; 50 place\(s\) in 1 view\(s\) compared/m);
  });

  it('tells each difference by view and player, in decimals, and ends with 1; rebuild repairs it', async () => {
    await sandbox.instance.run('status', '--wait', '60');
    const { redis } = sandbox.instance;
    const state = (await redis.hget(await players('all'), 'p-1')) ?? '';
    await redis.hset(await players('all'), 'p-1', state.replace(/^-?\d+/, '-1230'));
    await redis.hset(await players('all'), 'ghost', GHOST);
    await redis.hdel(await players('all region=eu'), 'p-0');
    await redis.zpopmax(await ranking('all region=us'));

    const { code, out } = await sandbox.ranklog('boards', 'verify', 'arena', 'daily');
    expect(code).toBe(1);
    expect(out).toMatch(/^arena: \d+ difference\(s\) to the log; /);
    expect(out).toMatch(/^all +columns +p-1 +score \d+\.\d at \S+ +score 123\.0 at \S+$/m);
    expect(out).toMatch(
      /^all +extra player +ghost +- +score 500\.0 at 2026-01-01T00:00:00\.000Z$/m,
    );
    expect(out).toMatch(/^all region=eu +missing player +p-0 +score \d+\.\d at \S+ +-$/m);
    expect(out).toMatch(/^all region=us +order +p-\d+ /m);
    expect(out).toMatch(/^daily: equal to the log/m);

    const [report] = await sandbox.json<{ differences: object[] }[]>('boards', 'verify', 'arena');
    expect(report).toMatchObject({ board: 'arena', equal: false, views: 4 });
    expect(report?.differences).toContainEqual({
      view: 'all',
      kind: 'extra',
      playerId: 'ghost',
      expected: null,
      found: { columns: { score: '500.0' }, reachedAt: '2026-01-01T00:00:00.000Z' },
    });

    const damaged = await sandbox.liveGeneration('arena');
    const rebuilt = await sandbox.ranklog('boards', 'rebuild', 'arena');
    expect([rebuilt.code, rebuilt.out]).toEqual([
      0,
      expect.stringContaining(`"ranklog boards rollback arena" returns to ${damaged}`),
    ]);
    expect((await sandbox.ranklog('boards', 'verify')).code).toBe(0);
  });

  it('ends with 1 for a board that there is not', async () => {
    const { code, err } = await sandbox.ranklog('boards', 'verify', 'arana');
    expect([code, err]).toEqual([1, expect.stringContaining('did you mean arena?')]);
  });
});
