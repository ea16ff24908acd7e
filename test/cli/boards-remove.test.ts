import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LeaseStore, KeySpace } from '#board-store';
import { until } from '../support/instance.js';
import { BoardsSandbox, eventsOf } from './boards-sandbox.js';

const arena = (update: string) =>
  `boards:\n  arena: { columns: [{ name: score, update: ${update} }] }\n`;
const others = ['cup', 'league', 'trials']
  .map((board) => `  ${board}: { columns: [{ name: score }] }\n`)
  .join('');

describe('boards apply that removes several boards, and does not come to its end', () => {
  let sandbox: BoardsSandbox;
  let leases: LeaseStore;
  beforeAll(async () => {
    sandbox = await BoardsSandbox.create(arena('best') + others);
    const { redis, name } = sandbox.instance;
    leases = new LeaseStore(redis, new KeySpace(name), { shards: 1 });
    await sandbox.instance.start();
    await sandbox.publish(eventsOf('arena', 100));
    await sandbox.writeBoards(arena('sum'));
  });
  afterAll(() => sandbox.remove());

  it('tells what it has built and removed when somebody works on the next one', async () => {
    const lease = await leases.acquire('league', 'elsewhere:1');
    const holding = setInterval(() => void leases.renew(lease), 1_000);
    const removing = ['--remove', 'cup', '--remove', 'league'];
    const { code, err } = await sandbox.ranklog('boards', 'apply', '--yes', ...removing);
    clearInterval(holding);
    await leases.release(lease);
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(
        /is being reconciled by elsewhere:1.*: league not removed; completed: arena was promoted, cup was removed\n$/,
      ),
    ]);
  });

  it('tells it when it is cancelled, and not that all is as it was', async () => {
    await leases.acquire('trials', `${hostname()}:${2 ** 30}`); // no process has that
    const removing = ['--remove', 'league', '--remove', 'trials'];
    const apply = sandbox.instance.spawn('boards', 'apply', '--yes', ...removing);
    await until(() => apply.errors.includes('has died; continuing'), 'it waits for the lease');
    apply.kill('SIGINT');
    const { code, err } = await sandbox.ended(apply);
    expect([code, err]).toEqual([
      130,
      expect.stringContaining(
        'ranklog: cancelled: trials not removed; completed: league was removed\n',
      ),
    ]);
    const live = await sandbox.instance.reader.liveBoards();
    expect(live.map(({ board }) => board).sort()).toEqual(['arena', 'trials']);
  });
});
