import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const ARENA = 'arena: { columns: [{ name: score, update: best }] }';
const BOARDS = `boards:\n  ${ARENA}\n  daily: { columns: [{ name: points }] }\n`;
const CHANGED = `boards:
  arena:
    columns: [{ name: score, update: best, decimals: 2 }]
    ties: latest
    dimensions: [[], [region]]
  daily: { columns: [{ name: points }], publish: { leaders: 3 } }
  trials: { columns: [{ name: points }] }
`;

describe('boards plan', () => {
  let sandbox: BoardsSandbox;
  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(BOARDS);
  });
  afterAll(() => sandbox.remove());

  it('has all boards to build on a Redis that has none', async () => {
    const { code, out } = await sandbox.ranklog('boards', 'plan');
    expect(code).toBe(1);
    expect(out).toContain('+ arena: new\n+ daily: new\n');
    expect(out).toContain(
      'building arena, daily: nothing to read: no record of the log is applied yet',
    );
    const verified = await sandbox.ranklog('boards', 'verify');
    expect([verified.code, verified.err]).toEqual([
      1,
      'ranklog: there is no live board to verify\n',
    ]);
  });

  it('has nothing to do when the live boards match the file', async () => {
    await sandbox.instance.start();
    await sandbox.publish([
      ...eventsOf('arena', 600),
      ...eventsOf('daily', 300),
      ...eventsOf('trials', 90),
    ]);
    const { code, out } = await sandbox.ranklog('boards', 'plan');
    expect([code, out]).toEqual([
      0,
      '= arena: unchanged\n= daily: unchanged\n\nnothing to do: the live boards match the file\n',
    ]);
  });

  it('shows what changes field by field, what is read, and the memory', async () => {
    await sandbox.writeBoards(CHANGED);
    const { code, out } = await sandbox.ranklog('boards', 'plan');
    expect(code).toBe(1);
    const arena = await sandbox.liveGeneration('arena');
    expect(out).toContain(
      [
        `~ arena: changed; live generation ${arena}`,
        '    columns.score.decimals: 0 -> 2',
        '    ties: earliest -> latest',
        '    dimensions: [ [] ] -> [ [], [ region ] ]',
        '',
      ].join('\n'),
    );
    expect(out).toMatch(/publish\.leaders: 0 -> 3\n {2}! only published results change/);
    expect(out).toContain('\n+ trials: new\n');
    expect(out).toContain('building arena, daily, trials: reads 990 record(s) of the log');
    expect(out).toMatch(/ arena: \d+\.\d MB in its live generation\n {2}daily: \d+\.\d MB/);
    expect(out).toContain('kept for 24 h beside the new one');
  });

  it('is there for programs, and changes nothing', async () => {
    // The running service drops published results from the outbox at any time.
    const keys = async () =>
      (await sandbox.instance.redis.keys(`${sandbox.instance.name}:*`))
        .filter((key) => !key.includes(':outbox:'))
        .sort();
    const before = await keys();
    const plan = await sandbox.json('boards', 'plan');
    expect(plan).toMatchObject({
      boards: [
        {
          board: 'arena',
          change: 'changed',
          generation: await sandbox.liveGeneration('arena'),
          liveBytes: expect.any(Number),
        },
        {
          board: 'daily',
          fields: [{ field: 'publish.leaders', before: '0', after: '3' }],
        },
        { board: 'trials', change: 'new', generation: null, fields: [], liveBytes: null },
      ],
      backfill: { records: 990, lastBuild: null },
      cut: [],
    });
    expect(await keys()).toEqual(before);
  });

  it('leaves a live board alone that the file does not have', async () => {
    await sandbox.writeBoards(`boards:\n  ${ARENA}\n`);
    const { code, out } = await sandbox.ranklog('boards', 'plan');
    expect(code).toBe(0);
    expect(out).toContain(
      '- daily: not in the file; kept unless you run "ranklog boards apply --remove daily"',
    );
  });

  it('ends with 2 for a boards file with problems, and other shards than those in Redis', async () => {
    await sandbox.writeBoards('boards:\n  arena: { columns: [{ name: x, order: up }] }\n');
    const { code, err } = await sandbox.ranklog('boards', 'plan');
    expect([code, err]).toEqual([2, expect.stringContaining('"up" is not allowed')]);
    sandbox.instance.env['RANKLOG_SHARDS'] = '2';
    const other = await sandbox.ranklog('boards', 'plan');
    delete sandbox.instance.env['RANKLOG_SHARDS'];
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining('RANKLOG_SHARDS is 1 there and 2 here'),
    ]);
  });
});
