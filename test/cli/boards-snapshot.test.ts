import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReconciliationStatus } from '#board-store';
import { until } from '../support/instance.js';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const BOARDS = `boards:
  arena:
    columns: [{ name: score }]
    windows: [all, year]
    dimensions: [[], [region]]
`;

interface Made {
  readonly generation: string;
  readonly asOf: string;
}

describe('boards snapshot', () => {
  let sandbox: BoardsSandbox;
  let made: Made;
  /** After the first events, and before the others. */
  let between: string;

  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(BOARDS);
    await sandbox.instance.start();
    await sandbox.publish(eventsOf('arena', 300, 10));
    between = new Date().toISOString();
    await until(() => Date.now() > Date.parse(between), 'the next ms');
    await sandbox.publish(eventsOf('arena', 500, 20));
  });
  afterAll(() => sandbox.remove());

  it('shows the board as it was, beside the live one', async () => {
    const args = ['boards', 'snapshot', 'arena', '--until', between];
    made = await sandbox.json<Made>(...args);
    expect(made).toMatchObject({ board: 'arena', asOf: between });
    const at = ['--generation', made.generation];
    const [then, now, rank, views] = await Promise.all([
      sandbox.json<{ size: number }>('standings', 'arena', ...at),
      sandbox.json<{ size: number }>('standings', 'arena'),
      sandbox.json('rank', 'arena', 'p-3', '--window', 'year:2026', ...at),
      sandbox.json<{ view: string; size: number }[]>('views', 'arena', ...at),
    ]);
    expect([then.size, now.size]).toEqual([10, 20]);
    expect(rank).toMatchObject({ places: [{ view: 'year:2026', size: 10 }] });
    expect(views).toContainEqual(expect.objectContaining({ view: 'all region=eu', size: 10 }));
  });

  it('says how to read it, and is listed with its moment', async () => {
    const { code, out } = await sandbox.ranklog('boards', 'snapshot', 'arena', '--until', between);
    expect(code).toBe(0);
    expect(out).toMatch(/^to read it: ranklog standings arena --generation \d+-[0-9a-f]{12}$/m);
    const generations = await sandbox.json<object[]>('boards', 'generations');
    expect(generations).toContainEqual({
      board: 'arena',
      generation: made.generation,
      role: 'snapshot',
      since: null,
      keptUntil: null,
      asOf: between,
      startsAt: null,
    });
    expect((await sandbox.ranklog('boards', 'generations')).out).toMatch(
      new RegExp(`^arena +snapshot +${made.generation} +- +- +${between} +all$`, 'm'),
    );
  });

  it('keeps to a throttle', async () => {
    const now = new Date().toISOString();
    const options = ['--until', now, '--throttle', '200'];
    expect((await sandbox.ranklog('boards', 'snapshot', 'arena', ...options)).code).toBe(0);
    const { redis, name } = sandbox.instance;
    const told = await redis.hget(`${name}:2:{0}:reconciliations`, 'arena');
    const status = JSON.parse(told ?? '{}') as ReconciliationStatus;
    expect(status).toMatchObject({ kind: 'snapshot', done: 800 });
    expect(status.updatedAt - status.startedAt).toBeGreaterThan(1_500);
  });

  it('takes a date as its start in UTC, and says so', async () => {
    const { code, out, err } = await sandbox.ranklog(
      ...['boards', 'snapshot', 'arena', '--until', '2026-01-01'],
    );
    expect([code, err]).toEqual([
      0,
      'ranklog: --until is 2026-01-01T00:00:00.000Z, the start of that day in UTC\n',
    ]);
    const [, generation = ''] = /generation (\S+)\n/.exec(out) ?? [];
    expect(await sandbox.json('standings', 'arena', '--generation', generation)).toMatchObject({
      size: 0,
    });
  });

  it('is gone when it is discarded', async () => {
    const discarded = await sandbox.ranklog('boards', 'discard', made.generation);
    expect(discarded).toMatchObject({ code: 0, out: `${made.generation}: discarded\n` });
    expect(await sandbox.instance.redis.keys(`*${made.generation}*`)).toEqual([]);
    const again = await sandbox.ranklog('boards', 'discard', made.generation);
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringContaining('is neither a snapshot nor the shadow of a dead run'),
    ]);
    const read = await sandbox.ranklog('standings', 'arena', '--generation', made.generation);
    expect([read.code, read.err]).toEqual([1, expect.stringContaining('has no generation')]);
  });

  it.each([
    ['snapshot', ['--until', '2999-01-01T00:00:00Z'], 2, 'it is in the future'],
    ['snapshot', ['--until', 'yesterday'], 2, 'use a date, or a time with a zone'],
    ['snapshot', [], 2, "required option '--until <time>' not specified"],
    ['rebuild', ['--from', '2999-01-01T00:00:00Z'], 2, 'it is in the future'],
  ])('boards %s with %j ends with %i', async (command, args, code, word) => {
    const ended = await sandbox.ranklog('boards', command, 'arena', ...args);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(word)]);
  });
});
