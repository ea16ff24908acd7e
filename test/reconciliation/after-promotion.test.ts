import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const CHANGED = 'boards: { arena: { columns: [{ name: points, update: best }] } }';
const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % 50}`,
  delta: 1 + serial,
});

describe('what Redis has done', () => {
  let scene: Scene;
  let sandbox: Sandbox;
  let first: string;
  let second: string;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { sent: 200 });
    ({ sandbox } = scene);
    first = (await sandbox.live('arena')).generation;
    await sandbox.reconciler.build(definitionsOf(CHANGED), RUN);
    second = (await sandbox.live('arena')).generation;
  });
  afterAll(() => scene.close());

  /** Does so once, when the promotion has happened and its record is to be written. */
  const beforeRecord = (work: () => Promise<void> | void) => {
    const { definitions } = sandbox;
    const write = definitions.write.bind(definitions);
    let isDone = false;
    definitions.write = async (records) => {
      if (!isDone) {
        isDone = true;
        await work();
      }
      await write(records);
    };
  };

  it('is answered, and not taken for cancelled, when a rollback is cancelled before it is written down', async () => {
    const cancelling = new AbortController();
    beforeRecord(() => {
      cancelling.abort();
      throw new Error('Kafka is away');
    });
    const { signal } = cancelling;
    expect(await sandbox.reconciler.rollback('arena', { signal })).toMatchObject({
      generation: first,
      previous: second,
    });
    expect((await sandbox.live('arena')).generation).toBe(first);
    expect(sandbox.words).toContainEqual(
      `board "arena": the definition of generation ${first} is not written to Kafka yet (the run was ended); the role reconciliation does that, and has to run somewhere`,
    );
    const [status] = await sandbox.leases.statuses();
    expect(status).toMatchObject({ state: 'done', outcome: `back to generation ${first}` });
    await until(
      async () => (await sandbox.definitions.readAll()).get('arena')?.generation === first,
      'the role reconciliation has made up for it',
    );
  });

  it('is not undone when the lease of a rollback is lost before it is written down', async () => {
    const { leases, keys } = sandbox;
    const renew = leases.renew.bind(leases);
    let isLost = false;
    leases.renew = (lease) =>
      renew(lease).catch((error: unknown) => {
        isLost = true;
        throw error;
      });
    beforeRecord(async () => {
      await scene.instance.redis.del(keys.lease(0, 'arena'));
      await until(() => isLost, 'the loss is noticed');
    });
    const { generation } = await sandbox.reconciler.rollback('arena', RUN);
    expect(generation).toBe(second);
    expect((await sandbox.live('arena')).generation).toBe(second);
    expect(sandbox.words.filter((word) => word.includes('begins again'))).toEqual([]);
  });

  it('stands when a removal can not be written down, and nothing is told of the board any more', async () => {
    const cancelling = new AbortController();
    beforeRecord(() => {
      cancelling.abort();
      throw new Error('Kafka is away');
    });
    await sandbox.reconciler.remove('arena', cancelling);
    expect((await sandbox.store.boards()).live.size).toBe(0);
    expect(await sandbox.leases.statuses()).toEqual([]);
    expect(sandbox.words).toContainEqual(
      expect.stringContaining('board "arena": its removal is not written to Kafka yet'),
    );
    await until(
      async () => (await sandbox.definitions.readAll()).get('arena')?.definition === null,
      'the role reconciliation has made up for it',
    );
  });
});
