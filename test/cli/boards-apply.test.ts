import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stateOf } from '../model/oracle-format.js';
import { memoryOf } from '../../src/reconciliation/boards/read-plan.js';
import { Scene } from '../reconciliation/sandbox.js';

const ARENA = 'arena: { columns: [{ name: score, update: best }] }';
const BOARDS = `boards:\n  ${ARENA}\n  daily: { columns: [{ name: points }] }\n`;
const CHANGED = `boards:
  arena:
    columns: [{ name: score, update: best, decimals: 2 }]
    ties: latest
    dimensions: [[], [region]]
  daily: { columns: [{ name: points }], publish: { leaders: 3 } }
`;
const TRIALS = '  trials: { columns: [{ name: points }] }\n';
const event = (serial: number) => ({
  board: ['arena', 'arena', 'daily', 'trials'][serial % 4]!,
  playerId: `p-${serial % 50}`,
  delta: String((serial * 37) % 101),
  attributes: { region: serial % 3 === 0 ? 'eu' : 'us' },
});

describe('boards plan and apply', () => {
  let scene: Scene;
  const ranklog = (...args: string[]) => scene.ranklog(...args);
  const liveArena = async () => (await scene.sandbox.live('arena')).generation;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { partitions: 2 });
  });
  afterAll(() => scene.close());

  it('plan lists all boards as new if Redis has none', async () => {
    const { code, out } = await ranklog('boards', 'plan');
    expect(code).toBe(1);
    expect(out).toContain('+ arena: new\n+ daily: new\n');
    expect(out).toContain(
      'building arena, daily: nothing to read: no record of the log is applied yet',
    );
    expect(await ranklog('boards', 'verify')).toMatchObject({
      code: 1,
      err: 'ranklog: there is no live board to verify\n',
    });
  });

  it('plan has nothing to do when the live boards match the file', async () => {
    await scene.start();
    await scene.send(1_000);
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 0,
      out: '= arena: unchanged\n= daily: unchanged\n\nnothing to do: the live boards match the file\n',
    });
  });

  it('plan shows each changed field, how many records a build reads, and the memory of the live generations', async () => {
    await scene.writeBoards(CHANGED + TRIALS);
    const { code, out } = await ranklog('boards', 'plan');
    expect(code).toBe(1);
    const generation = await liveArena();
    expect(out).toContain(
      [
        `~ arena: changed; live generation ${generation}`,
        '    columns.score.decimals: 0 -> 2',
        '    ties: earliest -> latest',
        '    dimensions: [ [] ] -> [ [], [ region ] ]',
        '',
      ].join('\n'),
    );
    expect(out).toMatch(/publish\.leaders: 0 -> 3\n {2}! only published results change/);
    expect(out).toContain('\n+ trials: new\n');
    expect(out).toContain('building arena, daily, trials: reads 1,000 record(s) of the log');
    expect(out).toMatch(/ arena: \d+\.\d MB in its live generation\n {2}daily: \d+\.\d MB/);
    expect(out).toContain('kept for 24 h beside the new one');
    const fields = [{ field: 'publish.leaders', before: '0', after: '3' }];
    expect(await scene.json('boards', 'plan')).toMatchObject({
      boards: [
        { board: 'arena', change: 'changed', generation, liveBytes: expect.any(Number) },
        { board: 'daily', fields },
        { board: 'trials', change: 'new', generation: null, fields: [], liveBytes: null },
      ],
      backfill: { records: 1_000, lastBuild: null },
      cut: [],
    });
  });

  it('neither plan nor apply without a terminal changes anything', async () => {
    // Keys that ingest, which runs meanwhile, creates and deletes at any time.
    const ofIngest = /:(outbox:\d+|checked-records|comparison|recovery-targets)$/;
    const keys = async () =>
      (await scene.sandbox.redis.keys(`${scene.instance.name}:*`))
        .filter((key) => !ofIngest.test(key))
        .sort();
    const before = await keys();
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 1,
      out: expect.stringContaining('columns.score.decimals: 0 -> 2'),
    });
    expect(await ranklog('boards', 'apply')).toMatchObject({
      code: 2,
      err: 'ranklog: apply asks for confirmation, and there is no terminal; use --yes, or "ranklog boards plan" to see the changes\n',
    });
    expect(await keys()).toEqual(before);
  });

  it.each([
    [
      'an attribute that events lack',
      'arena: { columns: [{ name: score, update: best }], dimensions: [[team]] }',
      `500 MISSING_DIMENSION (the attribute "team" is missing; board "arena" is ranked by it)`,
    ],
    [
      'another input',
      'arena: { columns: [{ name: score, update: best }, { name: wins }] }',
      `500 DELTA_NEEDS_ONE_COLUMN (board "arena" has several inputs: score, wins; send "deltas" with a value for each instead of "delta")`,
    ],
  ])('apply --yes refuses a definition that leaves out events: %s', async (_name, arena, kinds) => {
    await scene.writeBoards(`boards:\n  ${arena}\n  daily: { columns: [{ name: points }] }\n`);
    const text = `leaves out 500 event(s) that the live generation counts, and needs --allow-left-out: ${kinds}`;
    const before = await liveArena();
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 1,
      out: expect.stringContaining(`\n  ! ${text}\n`),
    });
    expect(await ranklog('boards', 'apply', '--yes')).toMatchObject({
      code: 2,
      err: `ranklog: the new definition of board "arena" ${text}; nothing was changed\n`,
    });
    expect(await liveArena()).toBe(before);
    await scene.writeBoards(CHANGED + TRIALS);
  });

  it('apply builds changed and new boards under traffic', async () => {
    scene.traffic.start(50, 10);
    const applied = await scene.json<{ built: { board: string }[] }>('boards', 'apply', '--yes');
    await scene.traffic.stop();
    expect(applied.built.map(({ board }) => board).sort()).toEqual(['arena', 'daily', 'trials']);
    expect(scene.traffic.sent).toBeGreaterThan(1_000);
    await scene.instance.run('status', '--wait', '60');
    expect(await ranklog('boards', 'verify')).toMatchObject({ code: 0 });
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to do'),
    });
    await scene.rankChanges();
  });

  it('rollback makes the previous generation live, and a second rollback makes the later one live again', async () => {
    const now = await liveArena();
    const back = await scene.json<{ generation: string }>('boards', 'rollback', 'arena');
    expect(back).toMatchObject({ board: 'arena', previous: now });
    expect(await liveArena()).toBe(back.generation);
    expect((await ranklog('boards', 'plan')).code).toBe(1);
    const forward = await ranklog('boards', 'rollback', 'arena');
    expect(forward.out).toContain(`arena: generation ${now} is live again`);
    expect(await ranklog('boards', 'rollback', 'trials')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no previous generation'),
    });
    expect(await ranklog('boards', 'rollback', 'arenna')).toMatchObject({
      code: 1,
      err: expect.stringContaining('did you mean arena?'),
    });
    expect((await ranklog('status')).out).not.toContain('arenna');
  });

  it('apply --allow-left-out builds the rest; rollback returns to all events', async () => {
    const team = ARENA.replace('}]', '}], dimensions: [[team]]');
    await scene.writeBoards(
      CHANGED.replace(/ {2}arena:[^]*?(?= {2}daily)/, `  ${team}\n`) + TRIALS,
    );
    const { built } = await scene.json<{ built: { board: string }[] }>(
      ...['boards', 'apply', '--yes', '--allow-left-out'],
    );
    expect(built.map(({ board }) => board)).toEqual(['arena']);
    expect(await scene.json('boards', 'plan')).toMatchObject({
      boards: [{ board: 'arena', change: 'same', leftOut: null }, {}, {}],
    });
    await scene.instance.run('boards', 'rollback', 'arena');
    await scene.writeBoards(CHANGED + TRIALS);
  });

  it('apply removes a board that the file no longer has, if --remove names it', async () => {
    const removing = ['boards', 'apply', '--yes', '--remove'];
    expect(await ranklog(...removing, 'trials')).toMatchObject({
      code: 2,
      err: expect.stringContaining('delete it there'),
    });
    await scene.writeBoards(CHANGED);
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        '- trials: not in the file; kept unless you run "ranklog boards apply --remove trials"',
      ),
    });
    expect(await ranklog('boards', 'apply', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('- trials: not in the file; kept'),
    });
    expect(await ranklog(...removing, 'trails')).toMatchObject({
      code: 1,
      err: expect.stringContaining('did you mean trials?'),
    });
    expect(await ranklog(...removing, 'trials')).toMatchObject({
      code: 0,
      out: expect.stringContaining('trials: removed\n'),
    });
    expect((await ranklog('standings', 'trials')).code).toBe(1);
    expect((await ranklog('status')).out).not.toContain('trials');
  });

  it('plan has exit code 2 if RANKLOG_SHARDS differs from Redis, or if the boards file has problems', async () => {
    scene.instance.env['RANKLOG_SHARDS'] = '2';
    const otherShards = await ranklog('boards', 'plan');
    delete scene.instance.env['RANKLOG_SHARDS'];
    expect(otherShards).toMatchObject({
      code: 2,
      err: expect.stringContaining('RANKLOG_SHARDS is 1 there and 2 here'),
    });
    await scene.writeBoards('boards:\n  arena: { columns: [{ name: x, order: up }] }\n');
    expect(await ranklog('boards', 'plan')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"up" is not allowed'),
    });
  });

  it('the memory of many views is estimated from some of them to within a tenth', async () => {
    const { redis, keys } = scene.sandbox;
    const views = Array.from({ length: 120 }, (_, index) => ({
      view: `all region=r${index}`,
      size: index < 5 ? 1_000 : 20 + (index % 150),
    }));
    let bytes = 0;
    for (const { view, size } of views) {
      const [ranking, states] = [keys.ranking(0, 'g', view), keys.players(0, 'g', view)];
      const players = Array.from({ length: size }, (_, index) => `player-${index}`);
      await redis.zadd(ranking, ...players.flatMap((id, index) => [-index, `#######${id}`]));
      await redis.hset(states, ...players.flatMap((id, index) => [id, stateOf(-index)]));
      for (const key of [ranking, states])
        bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    }
    const measured = await memoryOf(redis, views, ({ view }) => keys.ofView(0, 'g', view));
    expect(measured / bytes).toBeGreaterThan(0.9);
    expect(measured / bytes).toBeLessThan(1.1);
  });
});
