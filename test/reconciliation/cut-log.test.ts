import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until, type RanklogProcess, type TestInstance } from '../support/instance.js';
import { HistoryCutError } from '../../src/generations/errors.js';
import { causeOf, readRankChanges } from '../support/results.js';
import {
  closeScene,
  definitionsOf,
  openScene,
  published,
  type Sandbox,
  type Traffic,
} from './sandbox.js';

const ARENA = 'boards:\n  arena: { columns: [{ name: points }] }\n';
const CUP = '  cup: { columns: [{ name: points }] }\n';
const event = (serial: number) => ({
  board: serial % 2 === 0 ? 'arena' : 'cup',
  playerId: `player-${serial % 50}`,
  delta: 1 + serial,
});

describe('a log whose beginning is gone', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    ({ instance, sandbox, traffic } = await openScene(ARENA, event, { partitions: 2 }));
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const verify = async (board: string) => {
    const [report] = await sandbox.reconciler.verify([board], options());
    return report;
  };
  /** Deletes the first half of both partitions, or of one; answers where they begin now. */
  const cut = async (...only: number[]) => {
    const topic = instance.topics.scoreEvents;
    const ends = await instance.admin.fetchTopicOffsets(topic);
    const wanted = ends.filter(({ partition }) => only.length === 0 || only.includes(partition));
    const partitions = wanted.map(({ partition, offset }) => ({
      partition,
      offset: String(Math.floor(Number(offset) / 2)),
    }));
    await instance.admin.deleteTopicRecords({ topic, partitions });
    return Object.fromEntries(
      partitions.map(({ partition, offset }) => [partition, Number(offset)]),
    );
  };
  const flush = async () => {
    const keys = await sandbox.redis.keys(`${instance.name}:*`);
    await sandbox.redis.unlink(...keys);
  };
  const stop = async (service: RanklogProcess) => {
    service.kill('SIGTERM');
    await service.ended;
  };
  const partialHistory = async () => {
    const status = JSON.parse(await instance.run('status', '--json')) as {
      partialHistory: unknown;
    };
    return status.partialHistory;
  };
  const isRight = async (...boards: string[]) => {
    const definitions = definitionsOf(ARENA + CUP).filter(({ board }) => boards.includes(board));
    for (const definition of definitions) {
      expect(await sandbox.wrongViews(definition)).toEqual([]);
      expect(await verify(definition.board)).toMatchObject({ equal: true, places: 25 });
    }
  };

  it('before ranklog first read it: a board begins where it did, in status, for verify, and when Redis is lost', async () => {
    await traffic.send(400);
    const starts = await cut();
    const service = await instance.start();
    await published(instance, traffic);
    expect(service.errors).toContain(
      'without what is gone from the log before it: partition 0 from',
    );
    await isRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);

    const { generation } = await sandbox.live('arena');
    await sandbox.redis.hdel(sandbox.keys.players(0, generation, 'all'), 'player-0');
    expect(await verify('arena')).toMatchObject({ equal: false });
    await instance.run('boards', 'rebuild', 'arena');
    await isRight('arena');
    await traffic.send(100);
    await published(instance, traffic);

    await flush();
    await traffic.send(100);
    await published(instance, traffic);
    await isRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    expect(new Set(causes).size).toBe(causes.length);

    await cut();
    const before = await sandbox.live('arena');
    const refused = instance.spawn('boards', 'rebuild', 'arena');
    expect([await refused.ended, refused.errors]).toEqual([2, expect.stringContaining('gone')]);
    await expect(verify('arena')).rejects.toBeInstanceOf(HistoryCutError);
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
    expect(await sandbox.live('arena')).toEqual(before);
  });

  it('does not excuse a board whose events were read before that: it is missed', async () => {
    const service = await instance.start();
    await traffic.send(400);
    await published(instance, traffic);
    await stop(service);
    await cut();
    await flush();
    await instance.admin.deleteTopics({ topics: [instance.topics.definitions] });
    await instance.run('topics');
    const again = await instance.start();
    await until(() => again.errors.includes('must continue at offset 0'), 'a partition stops');
    expect(await partialHistory()).toEqual([]);
  });

  it('before a board was new in the file: it waits for a word, and is built with it', async () => {
    const first = await instance.start();
    await traffic.send(400);
    await published(instance, traffic);
    await stop(first);
    const starts = await cut();
    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', ARENA + CUP);
    const service = await instance.start();
    await until(
      () => service.errors.includes('boards apply --allow-partial-history'),
      'it says what it waits for',
    );
    await instance.run('boards', 'apply', '--yes', '--allow-partial-history');
    await traffic.send(100);
    await published(instance, traffic);
    await isRight('cup');
    expect(await partialHistory()).toMatchObject([{ board: 'cup', startsAt: starts }]);
  });

  it('above what was read of a partition: a board that was built of what is left is verified, though ingest stands before it', async () => {
    const service = await instance.start();
    await traffic.send(100);
    await published(instance, traffic);
    await stop(service);
    await traffic.send(400);
    const starts = await cut(0);
    const live = await sandbox.generations.liveAppliedOffsets('arena');
    expect(starts[0]).toBeGreaterThan((live.get(0) ?? -1) + 1);
    const signal = AbortSignal.timeout(240_000);
    const [arena] = definitionsOf(ARENA);
    if (arena === undefined) throw new Error('there is no board');
    await sandbox.reconciler.build([arena], { signal, allowPartialHistory: true });
    const [report] = await sandbox.reconciler.verify(['arena'], { signal });
    expect(report).toMatchObject({ equal: true });
    expect(report?.places).toBeGreaterThan(0);
  });

  it('and a Redis that is lost: its partitions stop, and go on with what is left after a rebuild', async () => {
    const first = await instance.start();
    await traffic.send(400);
    await published(instance, traffic);
    const before = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    await stop(first);
    const starts = await cut();
    await flush();

    const service = await instance.start();
    for (const partition of [0, 1])
      await until(
        () => service.errors.includes(`${instance.topics.scoreEvents}/${partition} stops:`),
        `partition ${partition} stops`,
      );
    const refused = instance.spawn('boards', 'rebuild', 'arena');
    expect(await refused.ended).toBe(2);
    await instance.run('boards', 'rebuild', 'arena', '--allow-partial-history');
    await stop(service);
    await instance.start();
    await traffic.send(100);
    await published(instance, traffic);
    const isStale = async () => (await instance.reader.rank('arena', 'all', 'nobody')).stale;
    await until(async () => !(await isStale()), 'it has recovered');
    await isRight('arena');
    expect(await partialHistory()).toMatchObject([{ board: 'arena', startsAt: starts }]);
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    expect(new Set(causes).size).toBe(causes.length);
    expect(causes).toHaveLength(before.length + 50);
  });
});
