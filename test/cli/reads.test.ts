import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { TestInstance, until } from '../support/instance.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }], windows: [all, day] }
  quiet: { columns: [{ name: points }] }
`;
const arena = (playerId: string, delta: number | string, occurredAt: string) =>
  JSON.stringify({ board: 'arena', playerId, delta, occurredAt: `2026-01-01T${occurredAt}Z` });

let instance: TestInstance;
let sent = 0;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { partitions: 2 });
  await instance.start();
  await send([
    arena('ada', 10, '09:00:02'),
    arena('bob', 10, '09:00:01'),
    arena('cyd', 5, '09:00:03'),
    arena('dan', 3, '09:00:03'),
    arena('eve', 3, '09:00:03'),
  ]);
});
afterAll(() => instance.remove());

/** Sends events; resolves when they are published. */
async function send(lines: readonly string[]): Promise<void> {
  await instance.produce(lines);
  sent += lines.length;
  await instance.published(sent);
}

async function ranklog(...args: string[]) {
  const child = instance.spawn(...args);
  return { code: await child.ended, out: child.output, err: child.errors };
}
const json = async (...args: string[]) =>
  JSON.parse((await ranklog(...args, '--json')).out) as Record<string, unknown>;

describe('standings', () => {
  it('begins with a rank, or after a page, up to the last player', async () => {
    const { next, ...second } = await json('standings', 'arena', '--from', '2', '--top', '2');
    expect(second).toMatchObject({ entries: [{ playerId: 'ada', rank: 2 }, { playerId: 'cyd' }] });
    const rest = await json('standings', 'arena', '--after', String(next), '--all');
    expect(rest).toMatchObject({
      view: 'all',
      entries: [
        { playerId: 'dan', rank: 4 },
        { playerId: 'eve', rank: 5 },
      ],
    });
    expect(rest).not.toHaveProperty('next');
    const end = await ranklog('standings', 'arena', '--from', '5', '--window', 'all');
    expect(end.out).toBe(
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   5  eve          3  2026-01-01T09:00:03.000Z',
        '1 of 5 players',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [['standings', 'arena', '--after', 'x'], 2, '"x" is not a cursor'],
    [['standings', 'arena', '--after', 'x', '--from', '2'], 2, 'cannot be used with option'],
    [['top', 'arena', '--live', '--from', '2'], 2, 'cannot be used with option'],
    [['top', 'arana', '--live'], 1, 'did you mean arena?'],
    [['around', 'arena', 'nobody'], 1, ''],
    [['around', 'arena', 'ada', '--above', '-1'], 2, 'use a whole number from 0'],
    [['around', 'arena', 'ada', '--above', '1000'], 2, 'is not a whole number from 1 to 1000'],
    [['watch', 'arana'], 1, 'did you mean arena?'],
  ])('%j ends with exit code %i and a helpful word', async (args, exitCode, word) => {
    const { code, err } = await ranklog(...args);
    expect([code, err]).toEqual([exitCode, expect.stringContaining(word)]);
  });
});

describe('around', () => {
  it('shows a page that stays full, and marks the player', async () => {
    const { code, out } = await ranklog('around', 'arena', 'bob', '--above', '1', '--below', '1');
    expect([code, out]).toEqual([
      0,
      [
        'arena: all',
        '',
        '   rank  player  points  reached',
        '>     1  bob         10  2026-01-01T09:00:01.000Z',
        '      2  ada         10  2026-01-01T09:00:02.000Z',
        '      3  cyd          5  2026-01-01T09:00:03.000Z',
        '',
      ].join('\n'),
    ]);
    const answer = await json('around', 'arena', 'dan', '--above', '0', '--below', '1');
    expect(answer).toEqual({
      playerId: 'dan',
      board: 'arena',
      view: 'all',
      stale: false,
      size: 5,
      entries: [
        expect.objectContaining({ playerId: 'dan', rank: 4 }),
        expect.objectContaining({ playerId: 'eve', rank: 5 }),
      ],
    });
  });
});

describe('top --live', () => {
  it('shows the view again after an event, and ends with 0 at Ctrl-C', async () => {
    const table = instance.spawn('top', 'arena', '--live', '--top', '2');
    const lines = instance.spawn('top', 'arena', '--live', '--top', '2', '--json');
    await until(() => table.output.includes('2 of 5') && lines.output !== '', 'both show the view');
    await send([arena('cyd', 20, '09:00:04')]);
    await until(() => table.output.includes('2  bob'), 'the table has the change');
    await until(() => lines.output.includes('cyd'), 'the lines have the change');
    for (const child of [table, lines]) child.kill('SIGINT');
    expect([await table.ended, await lines.ended]).toEqual([0, 0]);
    expect([table.errors, lines.errors]).toEqual(['', '']);
    expect(table.output.replaceAll(/at 2.*Z/g, 'at TIME')).toBe(
      [
        'arena: all',
        '',
        'rank  player  points  reached',
        '   1  bob         10  2026-01-01T09:00:01.000Z',
        '   2  ada         10  2026-01-01T09:00:02.000Z',
        '2 of 5 players at TIME',
        '',
        'arena: all',
        '',
        '     rank  player  points  reached',
        'new     1  cyd         25  2026-01-01T09:00:04.000Z',
        '▼1      2  bob         10  2026-01-01T09:00:01.000Z',
        '2 of 5 players at TIME',
        '',
        '',
      ].join('\n'),
    );
    const views = lines.output.trimEnd().split('\n');
    expect(views.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { entries: [{ playerId: 'bob' }, { playerId: 'ada' }] },
      { entries: [{ playerId: 'cyd' }, { playerId: 'bob' }] },
    ]);
  });
});

describe('a stale answer', () => {
  it('ends with 5 and a warning', async () => {
    const keys = new KeySpace(instance.name);
    await instance.redis.hset(keys.recoveryTargets(0), '0', 1_000_000);
    for (const args of [
      ['standings', 'arena'],
      ['views', 'arena'],
      ['rank', 'arena', 'ada'],
      ['rank', 'arena', 'nobody', '--window', 'all'],
      ['around', 'arena', 'ada'],
    ])
      expect([args, await ranklog(...args)]).toEqual([
        args,
        expect.objectContaining({ code: 5, err: expect.stringContaining('ranklog: stale: ') }),
      ]);
    await instance.redis.del(keys.recoveryTargets(0));
  });
});
