import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BoardReader, NoPreviousGenerationError } from '#board-store';
import { HistoryCutError, WatermarkBeyondLogError } from '../../src/reconciliation/errors.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { ScoreTopic } from '../ingest/score-topic.js';
import { readRankChanges } from '../support/results.js';
import { definitionsOf, Ground, published, Traffic } from './ground.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const CHANGED = 'boards: { arena: { columns: [{ name: points, update: best }] } }';
const PLAYERS = 50;
const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: 1 + serial,
});

describe('of the history of a board', () => {
  let instance: TestInstance;
  let ground: Ground;
  let traffic: Traffic;
  let service: RanklogProcess;

  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS);
    ground = new Ground(instance);
    traffic = new Traffic(instance, event);
    service = await instance.start();
  });
  afterEach(async () => {
    await traffic.close();
    await instance.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const [definition] = definitionsOf(BOARDS);
  const [changed] = definitionsOf(CHANGED);
  if (definition === undefined || changed === undefined) throw new Error('no definitions');
  const points = async (reader = instance.reader) => {
    const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 100 });
    return Object.fromEntries(
      entries.map(({ playerId, columns }) => [playerId, columns['points']]),
    );
  };
  /** Sums of the events from one serial to before another. */
  const sums = (from: number, to: number) => {
    const found: Record<string, string> = {};
    for (let serial = from; serial < to; serial++) {
      const { playerId, delta } = event(serial);
      found[playerId] = String(Number(found[playerId] ?? 0) + delta);
    }
    return found;
  };
  const send = async (count: number) => {
    await traffic.send(count);
    await published(instance, traffic);
  };

  /** A time after that of all records sent so far, and before that of all to come. */
  const betweenRecords = async () => {
    const time = Date.now() + 1;
    await until(() => Date.now() > time, 'the clock has moved on');
    return time;
  };

  it('the previous generation comes back, caught up, and goes forward again, under traffic', async () => {
    await expect(ground.reconciler.rollback('arena', options())).rejects.toBeInstanceOf(
      NoPreviousGenerationError,
    );
    await send(500);
    const first = (await ground.live('arena')).generation;
    traffic.start(5, 10);
    const [second] = await ground.reconciler.build([changed], options());
    const flips = [first, second?.generation];
    for (const [index, expected] of [first, second?.generation, first].entries()) {
      const sent = traffic.sent;
      await until(() => traffic.sent > sent + 200, 'traffic goes on');
      const report = await ground.reconciler.rollback('arena', options());
      expect(report.generation).toBe(expected);
      expect(report.previous).toBe(flips[(index + 1) % 2]);
      expect((await ground.live('arena')).generation).toBe(expected);
    }
    await traffic.stop();
    await published(instance, traffic);
    expect(await points()).toEqual(sums(0, traffic.sent));
    expect(await ground.wrongViews(definition)).toEqual([]);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(new Set(changes.map(({ source }) => `${source.partition}/${source.offset}`)).size).toBe(
      changes.length,
    );
    expect(new Set(changes.map(({ generation }) => generation))).toEqual(new Set(flips));
  });

  it('a board is built from a time on, stays so when it is built again, and is as it was at a time beside the live one', async () => {
    await send(300);
    const time = await betweenRecords();
    await send(200);
    const snapshot = await ground.reconciler.snapshot('arena', time, options());
    await ground.reconciler.build([definition], { ...options(), from: time });
    expect(await points()).toEqual(sums(300, 500));
    const reader = new BoardReader(instance.redis, ground.keys, snapshot.generation);
    expect(await points(reader)).toEqual(sums(0, 300));
    expect((await ground.live('arena')).starts).toBeDefined();
    const [report] = await ground.reconciler.verify(['arena'], options());
    expect(report).toMatchObject({ equal: true, places: PLAYERS });
    const roles = (await ground.catalog.generations()).map(({ role, asOf }) => [role, asOf]);
    expect(roles.sort()).toEqual([
      ['live', undefined],
      ['previous', undefined],
      ['snapshot', time],
    ]);
    await send(50);
    expect(await points(reader)).toEqual(sums(0, 300));
    await ground.reconciler.build([definition], options());
    expect(await points()).toEqual(sums(300, 550));
    expect(await ground.reconciler.verify(['arena'], options())).toMatchObject([{ equal: true }]);
    await ground.reconciler.build([definition], { ...options(), from: 'start' });
    expect(await points()).toEqual(sums(0, 550));
    expect((await ground.live('arena')).starts).toBeUndefined();
  });

  it('a board that begins ahead of live ingest is not given what comes before', async () => {
    await send(100);
    service.kill('SIGKILL');
    await service.ended;
    await traffic.send(100);
    const time = await betweenRecords();
    await traffic.send(50);
    const building = ground.reconciler.build([definition], { ...options(), from: time });
    await until(() => ground.words.some((word) => word.includes('waits for live')), 'it waits');
    await instance.start();
    await building;
    await published(instance, traffic);
    expect(await points()).toEqual(sums(200, 250));
  });

  it('a log that ends before what is live is no history of it: verify says so, a build refuses', async () => {
    await send(100);
    service.kill('SIGKILL');
    await service.ended;
    await new ScoreTopic(instance).recreate(4);
    const [report] = await ground.reconciler.verify(['arena'], options());
    expect(report).toMatchObject({ equal: false, places: 0 });
    expect(report?.differences[0]).toMatchObject({ kind: 'watermark' });
    const building = ground.reconciler.build([changed], options());
    await expect(building).rejects.toBeInstanceOf(WatermarkBeyondLogError);
    expect(await points()).toEqual(sums(0, 100));
  });

  it('events that are gone from the log are not built without, unless that is wanted; then it stays known', async () => {
    await send(400);
    const ends = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    const cut = ends.map(({ partition, offset }) => ({
      partition,
      offset: partition === 0 ? '0' : String(Math.floor(Number(offset) / 2)),
    }));
    await instance.admin.deleteTopicRecords({
      topic: instance.topics.scoreEvents,
      partitions: cut.filter(({ offset }) => offset !== '0'),
    });
    const before = await ground.live('arena');
    const refused = ground.reconciler.build([definition], options());
    await expect(refused).rejects.toBeInstanceOf(HistoryCutError);
    await expect(ground.reconciler.verify(['arena'], options())).rejects.toBeInstanceOf(
      HistoryCutError,
    );
    expect(await ground.generations.shadow('arena')).toBeUndefined();
    expect((await ground.live('arena')).generation).toBe(before.generation);

    const partial = { ...options(), allowPartialHistory: true };
    const [report] = await ground.reconciler.build([definition], partial);
    const starts = new Map(cut.map(({ partition, offset }) => [partition, Number(offset)]));
    expect(report?.starts).toEqual(starts);
    expect((await ground.live('arena')).starts).toEqual(starts);
    expect(await ground.wrongViews(definition)).toEqual([]);
    expect(await ground.reconciler.verify(['arena'], options())).toMatchObject([{ equal: true }]);
  });
});
