import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until, type RanklogProcess } from '../support/instance.js';
import { ended, Scene, type Sandbox } from '../reconciliation/sandbox.js';

const arena = (update: string) =>
  `boards:\n  arena: { columns: [{ name: score, update: ${update} }] }\n`;
const others = ['cup', 'league', 'trials']
  .map((board) => `  ${board}: { columns: [{ name: score }] }\n`)
  .join('');
const EVENTS = 3_000;
const event = (serial: number) => ({
  board: 'arena',
  playerId: `p-${serial % 50}`,
  delta: String((serial * 37) % 101),
});

/** The name under which a process of this machine holds a lease. */
function holderOf({ pid }: RanklogProcess): string {
  return `${hostname()}:${pid}`;
}

describe('a command that is interrupted', () => {
  let scene: Scene;
  let sandbox: Sandbox;

  beforeAll(async () => {
    scene = await Scene.open(arena('best') + others, event, { partitions: 2, sent: EVENTS });
    ({ sandbox } = scene);
    await scene.writeBoards(arena('sum') + others);
  });
  afterAll(() => scene.close());

  const live = async () => (await sandbox.live('arena')).generation;
  const generations = () =>
    scene.json<{ role: string; generation: string }[]>('boards', 'generations');
  const shadow = async () =>
    (await generations()).find(({ role }) => role === 'shadow')?.generation ?? 'none';
  /**
   * Starts a command on "arena" that would take more than a minute; returns once the command is
   * under way.
   */
  const startSlow = async (...args: string[]) => {
    const command = scene.instance.spawn('boards', ...args, '--throttle', '40');
    await until(async () => {
      const statuses = await sandbox.leases.statuses();
      return statuses.some(({ state, done }) => state === 'running' && done > 0);
    }, 'it runs');
    return command;
  };
  const lease = () => sandbox.keys.lease(0, 'arena');

  it('keeps a second command from running, whose error says who holds the lease and since when; status shows the build; Ctrl-C changes nothing', async () => {
    const before = await generations();
    const first = await startSlow('apply', '--yes');
    const second = await scene.ranklog('boards', 'apply', '--yes');
    expect(second.code).toBe(3);
    expect(second.err).toContain(`is being reconciled by ${holderOf(first)}`);
    expect(second.err).toMatch(/is being reconciled by \S+:\d+,/);
    const line = /^arena +build +\d+ % of 3,000 records, \d+\/s, about \d+ s left /m;
    await until(async () => line.test((await scene.ranklog('status')).out), 'status shows it');
    const run = { board: 'arena', kind: 'build', state: 'running', holder: holderOf(first) };
    expect(await scene.json('status')).toMatchObject({ reconciliations: [run] });

    first.kill('SIGINT');
    expect(await ended(first)).toMatchObject({
      code: 130,
      err: expect.stringContaining('cancelled: arena unchanged'),
    });
    expect(await generations()).toEqual(before);
  });

  it.each([
    ['verify', () => []],
    ['snapshot', () => ['--until', new Date().toISOString()]],
  ])('leaves all as it was after Ctrl-C: %s', async (kind, moreArgs) => {
    const before = await generations();
    const command = await startSlow(kind, 'arena', ...moreArgs());
    command.kill('SIGINT');
    expect(await ended(command)).toMatchObject({
      code: 130,
      err: expect.stringContaining('cancelled; everything is as it was before'),
    });
    expect(await generations()).toEqual(before);
    expect(await scene.json('status')).toMatchObject({
      reconciliations: [{ board: 'arena', state: 'cancelled' }],
    });
  });

  it('leaves a shadow that can be discarded after the command was killed, but not while it runs', async () => {
    const first = await startSlow('rebuild', 'arena');
    const generation = await shadow();
    const discard = () => scene.ranklog('boards', 'discard', generation);
    expect(await discard()).toMatchObject({
      code: 3,
      err: expect.stringContaining(`is being reconciled by ${holderOf(first)}`),
    });
    first.kill('SIGKILL');
    await first.ended;
    await sandbox.redis.del(lease()); // as if it had expired
    expect(await discard()).toMatchObject({
      code: 0,
      out: `${generation}: discarded; the next reconciliation of board "arena" begins from the start\n`,
    });
    expect(await sandbox.redis.keys(`*${generation}*`)).toEqual([]);
    expect(await shadow()).toBe('none');
  });

  it('is continued by the next command after it was killed', async () => {
    const first = await startSlow('apply', '--yes');
    const left = await shadow();
    first.kill('SIGKILL');
    await first.ended;
    // Long enough for the next one to find the lease, and shorter than a lease usually lasts.
    await sandbox.redis.pexpire(lease(), 6_000);
    const second = scene.instance.spawn('boards', 'apply', '--yes');
    const word = `${holderOf(first)}, which worked on board "arena", has died`;
    await until(() => second.errors.includes(word), 'the next one waits for the lease');
    expect(await second.ended).toBe(0);
    expect(await live()).toBe(left);
    expect((await sandbox.live('arena')).definition.columns).toMatchObject([{ update: 'sum' }]);
    await scene.expectExact(arena('sum'));
  });

  it('lists what it has built and removed when another process works on the next board', async () => {
    await scene.writeBoards(arena('latest')); // no earlier test makes this definition live
    const lease = await sandbox.leases.acquire('league', 'elsewhere:1');
    const holding = setInterval(() => void sandbox.leases.renew(lease), 1_000);
    try {
      const removing = ['--remove', 'cup', '--remove', 'league'];
      const { code, err } = await scene.ranklog('boards', 'apply', '--yes', ...removing);
      expect([code, err]).toEqual([
        3,
        expect.stringMatching(
          /is being reconciled by elsewhere:1.*: league not removed; completed: arena was promoted, cup was removed\n$/,
        ),
      ]);
    } finally {
      clearInterval(holding);
      await sandbox.leases.release(lease);
    }
  });

  it('lists what it has removed when it is cancelled, and does not claim that everything is as it was before', async () => {
    await scene.writeBoards(arena('latest'));
    expect(await scene.ranklog('boards', 'apply', '--yes')).toMatchObject({ code: 0 });
    await sandbox.leases.acquire('trials', `${hostname()}:${2 ** 30}`); // no process has that pid
    const removing = ['--remove', 'league', '--remove', 'trials'];
    const apply = scene.instance.spawn('boards', 'apply', '--yes', ...removing);
    await until(() => apply.errors.includes('has died; continuing'), 'it waits for the lease');
    apply.kill('SIGINT');
    expect(await ended(apply)).toMatchObject({
      code: 130,
      err: expect.stringContaining(
        'ranklog: cancelled: trials not removed; completed: league was removed\n',
      ),
    });
    const { live } = await sandbox.store.boards();
    expect([live.has('league'), live.has('trials')]).toEqual([false, true]);
  });
});
