import { afterEach, describe, expect, it } from '@jest/globals';
import { HistoryCutError } from '../../src/reconciliation/runs/run-errors.js';
import { until } from '../support/instance.js';
import { definitionsOf, RUN, Scene } from './sandbox.js';

const ARENA = 'boards:\n  arena: { columns: [{ name: points }] }\n';
const CUP = '  cup: { columns: [{ name: points }] }\n';
const event = (serial: number) => ({
  board: serial % 2 === 0 ? 'arena' : 'cup',
  playerId: `player-${serial % 50}`,
  delta: 1 + serial,
});

describe('a log whose beginning is gone', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  const open = async (options: { partitions: number; sent?: number }) => {
    scene = await Scene.open(ARENA, event, options);
  };
  /** Deletes the first half of all partitions, or of one. Returns where they begin now. */
  const cut = async (only?: number) => {
    const { admin, topics } = scene.instance;
    const topic = topics.scoreEvents;
    const ends = await admin.fetchTopicOffsets(topic);
    const starts = ends
      .filter(({ partition }) => only === undefined || partition === only)
      .map(({ partition, offset }) => ({ partition, offset: Math.floor(Number(offset) / 2) }));
    const partitions = starts.map(({ partition, offset }) => ({ partition, offset: `${offset}` }));
    await admin.deleteTopicRecords({ topic, partitions });
    return Object.fromEntries(starts.map(({ partition, offset }) => [partition, offset]));
  };
  const flush = async () => {
    const { redis } = scene.sandbox;
    await redis.unlink(...(await redis.keys(`${scene.instance.name}:*`)));
  };
  const verify = async (board: string) => (await scene.sandbox.reconciler.verify([board], RUN))[0]!;
  const partialHistory = async () =>
    (await scene.json<{ partialHistory: unknown }>('status')).partialHistory;
  const expectRight = async (name: string) => {
    const definition = definitionsOf(ARENA + CUP).find(({ board }) => board === name)!;
    expect(await scene.sandbox.wrongViews(definition)).toEqual([]);
    expect(await verify(name)).toMatchObject({ equal: true, places: 25 });
  };

  it('before ranklog first read it: a board begins where the log began at that time, for status, for verify, and after a loss of Redis', async () => {
    await open({ partitions: 2 });
    const { sandbox } = scene;
    await scene.traffic.send(400);
    const starts = await cut();
    const service = await scene.start();
    await scene.send(0);
    expect(service.errors).toContain('"startsAt":{"0":');
    await expectRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);

    const { generation } = await sandbox.live('arena');
    await sandbox.redis.hdel(sandbox.keys.players(0, generation, 'all'), 'player-0');
    expect(await verify('arena')).toMatchObject({ equal: false });
    await scene.instance.run('boards', 'rebuild', 'arena');
    await flush();
    await scene.send(100);
    await expectRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);
    await scene.rankChanges();

    await cut();
    const before = await sandbox.live('arena');
    expect(await scene.ranklog('boards', 'rebuild', 'arena')).toMatchObject({
      code: 2,
      err: expect.stringContaining('gone'),
    });
    await expect(verify('arena')).rejects.toBeInstanceOf(HistoryCutError);
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
    expect(await sandbox.live('arena')).toEqual(before);
  });

  it('before a board was added to the file: commands say so, and apply builds it with --allow-partial-history', async () => {
    await open({ partitions: 1, sent: 400 });
    await scene.stop();
    await cut();
    await scene.writeBoards(ARENA + CUP);
    await scene.sandbox.store.registerBoards(definitionsOf(ARENA + CUP));
    expect(await scene.ranklog('standings', 'cup')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is being built'),
    });
    expect(await scene.ranklog('boards', 'verify', 'cup')).toMatchObject({
      code: 3, // 1 would say that it differs
      err: expect.stringContaining('is being built'),
    });
    expect((await scene.ranklog('status')).out).toContain('not built yet, so not readable: cup');
    expect(await scene.json('status')).toMatchObject({ building: ['cup'], partialHistory: [] });
    const { out: plan } = await scene.ranklog('boards', 'plan');
    expect(plan).toContain('+ cup: new; registered, but no process builds it yet');
    expect(plan).toContain('is gone (it now begins in partition 0 at offset 200)');
    expect(await scene.json('boards', 'plan')).toMatchObject({
      cut: [{ partition: 0, from: 0, logStart: 200 }],
      backfill: { records: 200 },
    });
    expect(await scene.ranklog('boards', 'apply', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/partition 0: 0 to 199.*--allow-partial-history/),
    });

    const service = await scene.start();
    const hint = 'boards apply --allow-partial-history';
    await until(() => service.errors.includes(hint), 'the service says what it waits for');
    await scene.instance.run('boards', 'apply', '--yes', '--allow-partial-history');
    await scene.send(100);
    await expectRight('cup');
    await expectPartialOutput();
  });

  /** Checks what commands print about "cup", which begins at offset 200. */
  const expectPartialOutput = async () => {
    const { generation } = await scene.sandbox.live('cup');
    expect(await partialHistory()).toMatchObject([
      { board: 'cup', generation, startsAt: { 0: 200 } },
    ]);
    const lacks = 'board cup lacks the beginning of the log: partial, from 0:200';
    expect((await scene.ranklog('status')).out).toContain(lacks);
    const generations = await scene.ranklog('boards', 'generations');
    expect(generations.out).toMatch(/^cup +live .* partial, from 0:200$/m);

    await scene.writeBoards(ARENA + CUP.replace('}]', ', decimals: 2 }]'));
    const { out: plan } = await scene.ranklog('boards', 'plan');
    expect(plan).toContain('~ cup: changed');
    expect(plan).not.toContain('the beginning of the log is gone');
    expect(plan).toContain('starts where the live generation does: partial, from 0:200');
    expect(await scene.json('boards', 'plan')).toMatchObject({
      boards: [
        { board: 'arena', startsAt: null },
        { board: 'cup', startsAt: { 0: 200 } },
      ],
      backfill: { records: 300 },
    });
    expect(await scene.ranklog('boards', 'rebuild', 'cup')).toMatchObject({
      code: 0,
      out: expect.stringContaining('cup: partial, from 0:200; "--from start" reads the whole log'),
    });
    expect(await scene.ranklog('boards', 'rebuild', 'cup', '--from', 'start')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^cup: partial, from 0:200$/m), // the log has no more
    });
    expect(await scene.ranklog('boards', 'verify', 'arena')).toMatchObject({
      code: 2, // 1 would say that it differs
      err: expect.stringContaining('are gone from the log'),
    });
  };

  it('beyond the applied offset of a partition: a board built from the remaining records is verified, although ingest has not reached them', async () => {
    await open({ partitions: 2, sent: 100 });
    await scene.stop();
    await scene.traffic.send(400);
    const starts = await cut(0);
    const { generations, reconciler } = scene.sandbox;
    const live = await generations.liveAppliedOffsets('arena');
    expect(starts[0]).toBeGreaterThan((live.get(0) ?? -1) + 1);
    await reconciler.build(definitionsOf(ARENA), { ...RUN, allowPartialHistory: true });
    const report = await verify('arena');
    expect(report).toMatchObject({ equal: true });
    expect(report.places).toBeGreaterThan(0);
  });

  it('and a Redis that is emptied: the partitions stop, also without definitions in Kafka, and continue with the remaining records after a rebuild', async () => {
    await open({ partitions: 2, sent: 400 });
    const { instance } = scene;
    const before = await scene.rankChanges();
    await scene.stop();
    const starts = await cut();
    await flush();
    const stopped = await scene.start();
    for (const partition of [0, 1])
      await until(
        () => stopped.errors.includes(`${instance.topics.scoreEvents}/${partition} stops:`),
        `partition ${partition} stops`,
      );
    await scene.stop();
    await flush();
    await instance.admin.deleteTopics({ topics: [instance.topics.definitions] });
    await instance.run('topics');
    const again = await scene.start();
    await until(() => again.errors.includes('must continue at offset 0'), 'a partition stops');
    expect(await partialHistory()).toEqual([]);

    expect((await scene.ranklog('boards', 'rebuild', 'arena')).code).toBe(2);
    await instance.run('boards', 'rebuild', 'arena', '--allow-partial-history');
    await scene.stop();
    await scene.start();
    await scene.send(100);
    const isStale = async () => (await instance.reader.player('arena', 'nobody')).stale;
    await until(async () => !(await isStale()), 'it has recovered');
    await expectRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);
    expect(await scene.rankChanges()).toHaveLength(before.length + 50);
  });
});
