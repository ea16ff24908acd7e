import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LeaseLostError } from '#board-store';
import { TestInstance, until } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { closeScene, definitionsOf, Sandbox, openScene, published, Traffic } from './sandbox.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const CHANGED = 'boards: { arena: { columns: [{ name: points, update: best }] } }';
const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % 100}`,
  delta: 1 + serial,
});

describe('a build', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    own = await RedisServer.start();
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event, { own }));
  });
  afterEach(async () => {
    await closeScene({ instance, sandbox, traffic });
    await own.remove();
  });

  const build = (options = {}) =>
    sandbox.reconciler.build(definitionsOf(CHANGED), {
      signal: AbortSignal.timeout(240_000),
      ...options,
    });
  const done = (count: number) =>
    until(
      async () => (await sandbox.leases.statuses()).some((status) => status.done >= count),
      `${count} records are done`,
    );
  const check = async () => {
    await traffic.stop();
    await published(instance, traffic);
    const wrong = await Promise.all(definitionsOf(CHANGED).map((one) => sandbox.wrongViews(one)));
    expect(wrong.flat()).toEqual([]);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(new Set(changes.map(causeOf)).size).toBe(changes.length);
    return changes;
  };

  it('begins again when Redis is emptied on its way, and ends beside the recovery', async () => {
    await instance.start();
    await traffic.send(2_000);
    await published(instance, traffic);
    const building = build({ eventsPerSecond: 500 });
    await done(300);
    await own.redis.flushall();
    await building;
    await traffic.send(100);
    await check();
  });

  it('goes on when Redis was away for a while', async () => {
    await instance.start();
    await traffic.send(2_000);
    await published(instance, traffic);
    const building = build({ eventsPerSecond: 500 });
    await done(300);
    await own.kill();
    await until(
      () => sandbox.words.some((word) => word.includes('retrying after')),
      'it is noticed',
    );
    await own.start();
    const [report] = await building;
    expect(report?.records).toBeGreaterThanOrEqual(2_000);
    await check();
  });

  it('ends where live ingest stands still, and what comes then is applied to what it built', async () => {
    const service = await instance.start();
    await traffic.send(1_000);
    await published(instance, traffic);
    service.kill('SIGKILL');
    await service.ended;
    await traffic.send(3_000);
    const [report] = await build();
    expect(report?.records).toBe(1_000);
    await instance.start();
    const changes = await check();
    const generations = changes.map(({ generation }) => generation);
    expect(new Set(generations).size).toBe(2);
    expect(generations.filter((generation) => generation !== report?.generation)).toHaveLength(
      1_000,
    );
  });
});

describe('a build of two boards', () => {
  const BOTH =
    'boards: { arena: { columns: [{ name: points }] }, cup: { columns: [{ name: points }] } }';
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    const ofBoth = (serial: number) => ({ ...event(serial), board: serial % 2 ? 'arena' : 'cup' });
    ({ instance, sandbox, traffic } = await openScene(BOTH, ofBoth));
    await instance.start();
    await traffic.send(200);
    await published(instance, traffic);
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

  const arena = async () =>
    (await sandbox.leases.statuses()).find(({ board }) => board === 'arena');
  /** The shadow of "cup" is lost once, when "arena" is done. */
  const loseCup = (onLoss: () => Promise<unknown>) => {
    const { generations, keys } = sandbox;
    const promote = generations.promote.bind(generations);
    let isLost = false;
    generations.promote = async (lease, shadow, ...args) => {
      if (shadow.board === 'cup' && !isLost) {
        isLost = true;
        await until(async () => (await arena())?.state === 'done', '"arena" is done');
        await instance.redis.hdel(keys.shadows(0), 'cup');
        await onLoss();
      }
      return promote(lease, shadow, ...args);
    };
  };
  const build = () =>
    sandbox.reconciler.build(definitionsOf(BOTH), { signal: AbortSignal.timeout(240_000) });

  it('that begins again leaves the one that is done to whoever works on it', async () => {
    loseCup(async () => {
      await until(
        async () => (await instance.redis.exists(sandbox.keys.lease(0, 'arena'))) === 0,
        '"arena" is let go',
      );
      await sandbox.leases.acquire('arena', 'somebody else');
    });
    const reports = await build();
    expect(reports.map(({ board }) => board)).toEqual(['arena', 'cup']);
    expect(sandbox.words).toContainEqual(expect.stringContaining('begins again'));
  });

  it('that begins again and fails tells no more of the one that is done', async () => {
    const told: unknown[] = [];
    loseCup(async () => told.push(await arena()));
    const { generations } = sandbox;
    const promote = generations.promote.bind(generations);
    generations.promote = async (lease, shadow, ...args) => {
      if (shadow.board === 'cup' && told.length > 0)
        throw new LeaseLostError('cup', 'somebody else');
      return promote(lease, shadow, ...args);
    };
    await expect(build()).rejects.toThrow('somebody else');
    expect(await arena()).toEqual(told[0]);
  });
});

describe('a verify', () => {
  const PLAYERS = 2_000; // more than one call compares
  let own: RedisServer;
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    own = await RedisServer.start();
    const manyPlayers = (serial: number) => ({
      ...event(serial),
      playerId: `player-${serial % PLAYERS}`,
    });
    ({ instance, sandbox, traffic } = await openScene(BOARDS, manyPlayers, { own }));
    await instance.start();
    await traffic.send(PLAYERS + 500);
    await published(instance, traffic);
  });
  afterEach(async () => {
    await closeScene({ instance, sandbox, traffic });
    await own.remove();
  });

  /** Redis is another server from the second page of a walk on, once. */
  const restartBetweenPages = () => {
    const { generations } = sandbox;
    const compare = generations.compare.bind(generations);
    let isDone = false;
    generations.compare = async (lease, shadow, stretches, cursor) => {
      if (cursor !== undefined && cursor.walk.cursor !== '0' && !isDone) {
        isDone = true;
        await own.kill();
        await own.start();
      }
      return compare(lease, shadow, stretches, cursor);
    };
  };
  it('begins again when Redis is restarted between two pages, and finds each damage', async () => {
    const { generation } = await sandbox.live('arena');
    const ranking = sandbox.keys.ranking(0, generation, 'all');
    for (let place = PLAYERS - 1; place > 0; place -= 100)
      await own.redis.zremrangebyrank(ranking, place, place);
    restartBetweenPages();
    const options = { signal: AbortSignal.timeout(240_000) };
    expect(await sandbox.reconciler.verify(['arena'], options)).toMatchObject([
      { equal: false, places: PLAYERS, differenceCount: PLAYERS / 100 },
    ]);
    expect(sandbox.words.filter((word) => word.includes(' begins again: '))).toEqual([
      expect.stringContaining('Redis restarted or failed over'),
    ]);
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
  });
});

describe('a board that is new in the file', () => {
  let instance: TestInstance;

  afterEach(async () => {
    await instance.remove();
  });

  it('is built by itself after a restart, and its events give results from then on', async () => {
    const both =
      'boards: { arena: { columns: [{ name: points }] }, cup: { columns: [{ name: points }] } }';
    instance = await TestInstance.create(BOARDS);
    const sandbox = new Sandbox(instance);
    const send = async (board: string, count: number) => {
      const traffic = new Traffic(instance, (serial) => ({ ...event(serial), board }));
      await traffic.send(count);
      await traffic.close();
    };
    const before = await instance.start();
    await send('arena', 300);
    await send('cup', 200);
    await instance.published(500);
    before.kill('SIGTERM');
    await before.ended;

    await writeFile(instance.env['RANKLOG_BOARDS'] ?? '', both);
    const service = await instance.start();
    const isLive = async () => (await sandbox.store.boards()).live.has('cup');
    await until(isLive, 'the new board is live');
    await send('cup', 50);
    await instance.published(550);
    const [, cup] = definitionsOf(both);
    if (cup === undefined) throw new Error('no definition');
    expect(await sandbox.wrongViews(cup)).toEqual([]);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes.filter(({ board }) => board === 'cup')).toHaveLength(50);
    await until(() => service.errors.includes('built from 500 records'), 'it is told');
  });
});
