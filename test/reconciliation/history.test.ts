import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BoardReader, NoPreviousGenerationError } from '#board-store';
import { AppliedBeyondLogError } from '../../src/generations/errors.js';
import { until, type RanklogProcess, type TestInstance } from '../support/instance.js';
import { ScoreTopic } from '../ingest/score-topic.js';
import { readRankChanges } from '../support/results.js';
import {
  closeScene,
  definitionsOf,
  openScene,
  published,
  type Sandbox,
  type Traffic,
} from './sandbox.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const CHANGED = 'boards: { arena: { columns: [{ name: points, update: best }] } }';
const PLAYERS = 50;
const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: 1 + serial,
});

describe('the history of a board', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;
  let service: RanklogProcess;

  beforeEach(async () => {
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event));
    service = await instance.start();
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

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

  it('is rolled back and forward again under traffic, caught up each time', async () => {
    await expect(sandbox.reconciler.rollback('arena', options())).rejects.toBeInstanceOf(
      NoPreviousGenerationError,
    );
    await send(500);
    const first = (await sandbox.live('arena')).generation;
    traffic.start(5, 10);
    const [second] = await sandbox.reconciler.build([changed], options());
    const promotions = [first, second?.generation];
    for (const [index, expected] of [first, second?.generation, first].entries()) {
      const sent = traffic.sent;
      await until(() => traffic.sent > sent + 200, 'traffic goes on');
      const report = await sandbox.reconciler.rollback('arena', options());
      expect(report.generation).toBe(expected);
      expect(report.previous).toBe(promotions[(index + 1) % 2]);
      expect((await sandbox.live('arena')).generation).toBe(expected);
    }
    await traffic.stop();
    await published(instance, traffic);
    expect(await points()).toEqual(sums(0, traffic.sent));
    expect(await sandbox.wrongViews(definition)).toEqual([]);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(new Set(changes.map(({ source }) => `${source.partition}/${source.offset}`)).size).toBe(
      changes.length,
    );
    expect(new Set(changes.map(({ generation }) => generation))).toEqual(new Set(promotions));
  });

  it('is built from a time on, also when it is rebuilt; a snapshot shows it at that time', async () => {
    await send(300);
    const time = await betweenRecords();
    await send(200);
    const snapshot = await sandbox.reconciler.snapshot('arena', time, options());
    await sandbox.reconciler.build([definition], { ...options(), from: time });
    expect(await points()).toEqual(sums(300, 500));
    const reader = new BoardReader(instance.redis, sandbox.keys, snapshot.generation);
    expect(await points(reader)).toEqual(sums(0, 300));
    expect((await sandbox.live('arena')).starts).toBeDefined();
    const [report] = await sandbox.reconciler.verify(['arena'], options());
    expect(report).toMatchObject({ equal: true, places: PLAYERS });
    const roles = (await sandbox.catalog.generations()).map(({ role, asOf }) => [role, asOf]);
    expect(roles.sort()).toEqual([
      ['live', undefined],
      ['previous', undefined],
      ['snapshot', time],
    ]);
    await send(50);
    expect(await points(reader)).toEqual(sums(0, 300));
    await sandbox.reconciler.build([definition], options());
    expect(await points()).toEqual(sums(300, 550));
    expect(await sandbox.reconciler.verify(['arena'], options())).toMatchObject([{ equal: true }]);
    await sandbox.reconciler.build([definition], { ...options(), from: 'start' });
    expect(await points()).toEqual(sums(0, 550));
    expect((await sandbox.live('arena')).starts).toBeUndefined();
  });

  it('leaves out events before its start, also if live ingest has not reached that yet', async () => {
    await send(100);
    service.kill('SIGKILL');
    await service.ended;
    await traffic.send(100);
    const time = await betweenRecords();
    await traffic.send(50);
    const building = sandbox.reconciler.build([definition], { ...options(), from: time });
    await until(() => sandbox.words.some((word) => word.includes('waits for live')), 'it waits');
    await instance.start();
    await building;
    await published(instance, traffic);
    expect(await points()).toEqual(sums(200, 250));
  });

  it('is not built from a log that ends before the live applied offsets; verify reports them', async () => {
    await send(100);
    service.kill('SIGKILL');
    await service.ended;
    await new ScoreTopic(instance).recreate(4);
    const [report] = await sandbox.reconciler.verify(['arena'], options());
    expect(report).toMatchObject({ equal: false, places: 0 });
    expect(report?.differences[0]).toMatchObject({ kind: 'appliedOffset' });
    const building = sandbox.reconciler.build([changed], options());
    await expect(building).rejects.toBeInstanceOf(AppliedBeyondLogError);
    expect(await points()).toEqual(sums(0, 100));
  });
});
