import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { BoardReader, NoPreviousGenerationError } from '#board-store';
import { AppliedBeyondLogError } from '../../src/reconciliation/runs/run-errors.js';
import { ScoreTopic } from '../ingest/score-topic.js';
import { until } from '../support/instance.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const BOARDS =
  'boards: { arena: { columns: [{ name: points }] }, cup: { columns: [{ name: points }] } }';
const CHANGED = 'boards: { arena: { columns: [{ name: points, update: best }] } }';
const PLAYERS = 50;
/** Two of the players are on "cup". */
const event = (serial: number) => ({
  board: serial % 25 === 24 ? 'cup' : 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: 1 + serial,
});

describe('a board', () => {
  let scene: Scene;
  let sandbox: Sandbox;

  beforeAll(async () => {
    scene = await Scene.open(BOARDS, event, { sent: 500 });
    ({ sandbox } = scene);
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => scene.close());

  const points = async (reader = scene.instance.reader) => {
    const { entries } = await reader.standings('arena', { view: 'all', limit: 100 });
    return Object.fromEntries(
      entries.map(({ playerId, columns }) => [playerId, columns['points']]),
    );
  };
  /** Sums of "arena" over the events from one serial to before another. */
  const sums = (from: number, to: number) => {
    const found: Record<string, string> = {};
    for (let serial = from; serial < to; serial++) {
      const { board, playerId, delta } = event(serial);
      if (board === 'arena') found[playerId] = String(Number(found[playerId] ?? 0) + delta);
    }
    return found;
  };
  /** A time after the timestamps of all records sent so far, and before those of all later ones. */
  const betweenRecords = async () => {
    const time = Date.now() + 1;
    await until(() => Date.now() > time, 'the clock has moved on');
    return time;
  };

  it('is rolled back and forward again under traffic, caught up each time', async () => {
    const { reconciler } = sandbox;
    await expect(reconciler.rollback('arena', RUN)).rejects.toBeInstanceOf(
      NoPreviousGenerationError,
    );
    const first = (await sandbox.live('arena')).generation;
    scene.traffic.start(5, 10);
    const [second] = await reconciler.build(definitionsOf(CHANGED), RUN);
    const promotions = [first, second?.generation];
    for (const [index, expected] of [first, second?.generation, first].entries()) {
      const { sent } = scene.traffic;
      await until(() => scene.traffic.sent > sent + 100, 'traffic goes on');
      const report = await reconciler.rollback('arena', RUN);
      expect(report.generation).toBe(expected);
      expect(report.previous).toBe(promotions[(index + 1) % 2]);
      expect((await sandbox.live('arena')).generation).toBe(expected);
    }
    const changes = await scene.expectExact(BOARDS);
    expect(await points()).toEqual(sums(0, scene.traffic.sent));
    const ofArena = changes.filter(({ board }) => board === 'arena');
    expect(new Set(ofArena.map(({ generation }) => generation))).toEqual(new Set(promotions));
  });

  /**
   * Runs some work once, after Redis has changed the roles of generations and before Kafka gets the
   * definition record.
   */
  const beforeRecord = (work: () => Promise<void> | void) => {
    const { definitions } = sandbox;
    const write = definitions.write.bind(definitions);
    jest.spyOn(definitions, 'write').mockImplementationOnce(async (records) => {
      await work();
      await write(records);
    });
  };

  it('is reported as rolled back if the rollback is cancelled after it took place in Redis', async () => {
    const { generation: before } = await sandbox.live('arena');
    const cancelling = new AbortController();
    beforeRecord(() => {
      cancelling.abort();
      throw new Error('Kafka is away');
    });
    const { signal } = cancelling;
    const { generation, previous } = await sandbox.reconciler.rollback('arena', { signal });
    expect(previous).toBe(before);
    expect((await sandbox.live('arena')).generation).toBe(generation);
    expect(sandbox.words).toContainEqual(
      `board "arena": the definition of generation ${generation} is not written to Kafka yet (the run was ended); the role reconciliation writes it, and has to run somewhere`,
    );
    const outcome = `back to generation ${generation}`;
    const statuses = await sandbox.leases.statuses();
    expect(statuses).toContainEqual(
      expect.objectContaining({ board: 'arena', state: 'done', outcome }),
    );
    await until(
      async () => (await sandbox.definitions.readAll()).get('arena')?.generation === generation,
      'the role reconciliation has written it',
    );
  });

  it('is rolled back only once if the lease is lost after the rollback took place in Redis', async () => {
    const { leases, keys } = sandbox;
    const { generation: before } = await sandbox.live('arena');
    const renew = leases.renew.bind(leases);
    let isLost = false;
    jest.spyOn(leases, 'renew').mockImplementation((lease) =>
      renew(lease).catch((error: unknown) => {
        isLost = true;
        throw error;
      }),
    );
    beforeRecord(async () => {
      await sandbox.redis.del(keys.lease(0, 'arena'));
      await until(() => isLost, 'the loss is noticed');
    });
    const { generation, previous } = await sandbox.reconciler.rollback('arena', RUN);
    expect(previous).toBe(before);
    expect((await sandbox.live('arena')).generation).toBe(generation);
    expect(sandbox.words.filter((word) => word.includes('begins again'))).toEqual([]);
  });

  it('is built from a time on, and again from there by a rebuild; a snapshot shows the board at that time', async () => {
    const { reconciler } = sandbox;
    const arena = definitionsOf(BOARDS).slice(0, 1);
    const { sent } = scene.traffic;
    const time = await betweenRecords();
    await scene.send(200);
    const snapshot = await reconciler.snapshot('arena', time, RUN);
    await reconciler.build(arena, { ...RUN, from: time });
    expect(await points()).toEqual(sums(sent, sent + 200));
    const reader = new BoardReader({
      redis: sandbox.redis,
      prefix: sandbox.keys.prefix,
      generation: snapshot.generation,
    });
    expect(await points(reader)).toEqual(sums(0, sent));
    expect((await sandbox.live('arena')).starts).toBeDefined();
    const [report] = await reconciler.verify(['arena'], RUN);
    expect(report).toMatchObject({ equal: true, places: PLAYERS - 2 });
    const generations = await sandbox.catalog.generations();
    const ofArena = generations.filter(({ board }) => board === 'arena');
    expect(ofArena.map(({ role, asOf }) => [role, asOf]).sort()).toEqual([
      ['live', undefined],
      ['previous', undefined],
      ['snapshot', time],
    ]);
    await scene.send(50);
    expect(await points(reader)).toEqual(sums(0, sent));
    await reconciler.build(arena, RUN);
    expect(await points()).toEqual(sums(sent, sent + 250));
    expect(await reconciler.verify(['arena'], RUN)).toMatchObject([{ equal: true }]);
    await reconciler.build(arena, { ...RUN, from: 'start' });
    expect(await points()).toEqual(sums(0, sent + 250));
    expect((await sandbox.live('arena')).starts).toBeUndefined();
  });

  it('is built by commands that wait for live ingest, and say so once', async () => {
    await scene.stop('SIGKILL');
    await scene.traffic.send(100);
    const time = new Date(await betweenRecords()).toISOString();
    const { sent } = scene.traffic;
    await scene.traffic.send(50);
    const { instance } = scene;
    const rebuild = instance.spawn('boards', 'rebuild', 'arena', '--from', time);
    const snapshot = instance.spawn('boards', 'snapshot', 'cup', '--until', time);
    const start =
      /waits for live ingest to reach the start of the build \(partition \d: at offset \d+ of \d+.*: does a service run/;
    await until(() => start.test(rebuild.errors), 'the rebuild says it');
    const still = /waits for live ingest, which has made no progress for 1\d s: does a service run/;
    await until(() => still.test(snapshot.errors), 'the snapshot says it');
    await scene.start();
    expect([await rebuild.ended, await snapshot.ended]).toEqual([0, 0]);
    for (const { errors } of [rebuild, snapshot])
      expect(errors.match(/waits for live ingest/g)).toHaveLength(1);
    await scene.send(0);
    expect(await points()).toEqual(sums(sent, sent + 50));
  });

  it('that is removed leaves nothing but its snapshots, even before Kafka has the removal', async () => {
    const generationsOfCup = async () =>
      (await sandbox.catalog.generations()).filter(({ board }) => board === 'cup');
    const { generation } = await sandbox.reconciler.snapshot('cup', await betweenRecords(), RUN);
    const before = await generationsOfCup();
    expect(before).toContainEqual(expect.objectContaining({ generation, role: 'snapshot' }));
    const cancelling = new AbortController();
    beforeRecord(() => {
      cancelling.abort();
      throw new Error('Kafka is away');
    });
    await sandbox.reconciler.remove('cup', cancelling);
    expect(await generationsOfCup()).toEqual(before.filter(({ role }) => role === 'snapshot'));
    expect([...(await sandbox.store.boards()).live.keys()]).toEqual(['arena']);
    expect((await sandbox.leases.statuses()).map(({ board }) => board)).toEqual(['arena']);
    expect(sandbox.words).toContainEqual(
      expect.stringContaining('board "cup": its removal is not written to Kafka yet'),
    );
    await until(
      async () => (await sandbox.definitions.readAll()).get('cup')?.definition === null,
      'the role reconciliation has written it',
    );
  });

  // Last: it replaces the log.
  it('is not built from a log that ends before the live applied offsets; verify reports that difference', async () => {
    await sandbox.reconciler.build(definitionsOf(BOARDS).slice(0, 1), { ...RUN, from: 'start' });
    await scene.stop('SIGKILL');
    const before = await points();
    await new ScoreTopic(scene.instance).recreate(4);
    const [report] = await sandbox.reconciler.verify(['arena'], RUN);
    expect(report).toMatchObject({ equal: false, places: 0 });
    expect(report?.differences[0]).toMatchObject({ kind: 'appliedOffset' });
    const building = sandbox.reconciler.build(definitionsOf(CHANGED), RUN);
    await expect(building).rejects.toBeInstanceOf(AppliedBeyondLogError);
    expect(await points()).toEqual(before);
  });
});
