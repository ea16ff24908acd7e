import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BoardsSandbox, eventsOf, holderOf } from './boards-sandbox.js';

const plain = (update: string) =>
  `boards:\n  arena: { columns: [{ name: score, update: ${update} }] }\n`;
const EVENTS = eventsOf('arena', 3_000);

/** The largest sum of a player's deltas. */
function topSum(): string {
  const sums = new Map<string, number>();
  for (const { playerId, delta } of EVENTS)
    sums.set(playerId, (sums.get(playerId) ?? 0) + Number(delta));
  return String(Math.max(...sums.values()));
}

describe('boards apply that does not come to its end', () => {
  let sandbox: BoardsSandbox;
  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(plain('best'));
    await sandbox.instance.start();
    await sandbox.publish(EVENTS);
    await sandbox.writeBoards(plain('sum'));
  });
  afterAll(() => sandbox.remove());

  it('refuses a second one, and tells who is at it since when; Ctrl-C leaves all as it was', async () => {
    const before = await sandbox.liveGeneration('arena');
    const first = sandbox.instance.spawn('boards', 'apply', '--yes', '--throttle', '40');
    await sandbox.running('arena');

    const second = await sandbox.ranklog('boards', 'apply', '--yes');
    expect(second.code).toBe(3);
    expect(second.err).toContain(`is being reconciled by ${holderOf(first)}`);
    expect(second.err).toMatch(/It runs a build since \d{4}-\S+Z, at \d+ of \d+ records/);
    const [text, json] = await Promise.all([sandbox.ranklog('status'), sandbox.json('status')]);
    expect(text.out).toMatch(/^arena +build +\d+ % of 3,000 records, .*\/s/m);
    expect(json).toMatchObject({
      reconciliations: [
        { board: 'arena', kind: 'build', state: 'running', holder: holderOf(first) },
      ],
    });

    first.kill('SIGINT');
    const cancelled = await sandbox.ended(first);
    expect(cancelled.code).toBe(130);
    expect(cancelled.err).toContain('cancelled: arena unchanged');
    expect(await sandbox.liveGeneration('arena')).toBe(before);
    expect(await sandbox.json('boards', 'generations')).toMatchObject([{ role: 'live' }]);
  });

  it.each([
    ['verify', () => []],
    ['snapshot', () => ['--until', new Date().toISOString()]],
  ])('leaves all as it was after Ctrl-C, as %s does', async (kind, moreArgs) => {
    const before = await sandbox.json('boards', 'generations');
    const args = ['arena', ...moreArgs(), '--throttle', '40'];
    const command = sandbox.instance.spawn('boards', kind, ...args);
    await sandbox.running('arena');
    command.kill('SIGINT');
    expect(await sandbox.ended(command)).toMatchObject({
      code: 130,
      err: expect.stringContaining('cancelled; everything is as it was before'),
    });
    expect(await sandbox.json('boards', 'generations')).toEqual(before);
    expect(await sandbox.json('status')).toMatchObject({
      reconciliations: [{ board: 'arena', state: 'cancelled' }],
    });
  });

  it('goes on where one was that was killed', async () => {
    const first = sandbox.instance.spawn('boards', 'apply', '--yes', '--throttle', '40');
    await sandbox.running('arena');
    const left = await sandbox.json<{ role: string; generation: string }[]>(
      'boards',
      'generations',
    );
    const shadow = left.find(({ role }) => role === 'shadow')?.generation;
    expect(shadow).toBeDefined();
    first.kill('SIGKILL'); // its lease is there for 15 s
    await first.ended;

    const second = await sandbox.ranklog('boards', 'apply', '--yes');
    expect([second.code, second.err]).toEqual([
      0,
      expect.stringContaining(`${holderOf(first)}, which worked on board "arena", has died`),
    ]);
    expect(await sandbox.liveGeneration('arena')).toBe(shadow);
    const { entries } = await sandbox.instance.reader.standings('arena', 'all', {
      offset: 0,
      limit: 1,
    });
    expect(entries[0]?.columns).toEqual({ score: topSum() });
  });

  it('can be discarded once its run was killed, and not while the run is active', async () => {
    const { redis, name } = sandbox.instance;
    const first = sandbox.instance.spawn('boards', 'rebuild', 'arena', '--throttle', '40');
    await sandbox.running('arena');
    const found = await sandbox.json<{ role: string; generation: string }[]>(
      'boards',
      'generations',
    );
    const { generation } = found.find(({ role }) => role === 'shadow')!;
    const refused = await sandbox.ranklog('boards', 'discard', generation);
    expect([refused.code, refused.err]).toEqual([
      3,
      expect.stringContaining(`is being reconciled by ${holderOf(first)}`),
    ]);
    first.kill('SIGKILL');
    await first.ended;
    await redis.del(`${name}:2:{0}:lease:arena`); // it has run out

    const { code, out } = await sandbox.ranklog('boards', 'discard', generation);
    expect([code, out]).toEqual([
      0,
      `${generation}: discarded; it was the shadow of a dead run on board "arena"; the next run starts again\n`,
    ]);
    expect(await redis.keys(`*${generation}*`)).toEqual([]);
    const left = await sandbox.json<{ role: string }[]>('boards', 'generations');
    expect(left.map(({ role }) => role)).not.toContain('shadow');
    const live = await sandbox.ranklog('boards', 'discard', await sandbox.liveGeneration('arena'));
    expect([live.code, live.err]).toEqual([1, expect.stringContaining("so it can't be discarded")]);
  });
});
