import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LeaseLostError, type Lease } from '#board-store';
import { RestartPolicy } from '../../src/reconciliation/runs/retries.js';
import { CancelledError } from '../../src/reconciliation/runs/run-errors.js';
import { until } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const SUMS =
  'boards: { arena: { columns: [{ name: points }] }, cup: { columns: [{ name: points }] } }';
const BEST = SUMS.replaceAll('name: points', 'name: points, update: best');
const PLAYERS = 2_000; // a verify compares them in several calls
const event = (serial: number) => ({
  board: serial % 10 === 0 ? 'cup' : 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: 1 + serial,
});

describe('a reconciliation', () => {
  let own: RedisServer;
  let scene: Scene;
  let sandbox: Sandbox;

  beforeAll(async () => {
    own = await RedisServer.start();
    scene = await Scene.open(SUMS, event, { ownRedis: own, sent: PLAYERS });
    ({ sandbox } = scene);
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => scene.close());

  const build = (yaml: string, options = {}) =>
    sandbox.reconciler.build(definitionsOf(yaml), { ...RUN, ...options });
  const arena = async () =>
    (await sandbox.leases.statuses()).find(({ board }) => board === 'arena');
  const isUnderWay = () =>
    until(async () => {
      const status = await arena();
      return status?.state === 'running' && status.done > 300;
    }, 'the build is under way');
  /** Returns a function that lists the matching messages logged from now on. */
  const newWords = (pattern: RegExp) => {
    const before = sandbox.words.length;
    return () => sandbox.words.slice(before).filter((word) => pattern.test(word));
  };

  it('of kind build begins again when Redis is emptied, and makes an exact board', async () => {
    const building = build(BEST, { eventsPerSecond: 500 });
    await isUnderWay();
    await own.redis.flushall();
    await building;
    await scene.send(100);
    await scene.expectExact(BEST);
  });

  it('of kind build continues when Redis was away for a while', async () => {
    const retries = newWords(/retrying after/);
    const building = build(SUMS, { eventsPerSecond: 500 });
    await isUnderWay();
    await own.kill();
    await until(() => retries().length > 0, 'the build has noticed it');
    await own.start();
    const [report] = await building;
    expect(report?.records).toBeGreaterThanOrEqual(PLAYERS);
    await scene.expectExact(SUMS);
  });

  it('of kind verify begins again when Redis is restarted between two calls, and finds each damage', async () => {
    const { generations, keys } = sandbox;
    const ranking = keys.ranking(0, (await sandbox.live('arena')).generation, 'all');
    const places = await own.redis.zcard(ranking);
    for (let place = places - 1; place > 0; place -= 100)
      await own.redis.zremrangebyrank(ranking, place, place);
    const compare = generations.compare.bind(generations);
    let isDone = false;
    jest.spyOn(generations, 'compare').mockImplementation(async (...args) => {
      const [, , , cursor] = args;
      if (cursor !== undefined && cursor.walk.cursor !== '0' && !isDone) {
        isDone = true;
        await own.kill();
        await own.start();
      }
      return compare(...args);
    });
    const restarts = newWords(/ begins again: /);
    expect(await sandbox.reconciler.verify(['arena'], RUN)).toMatchObject([
      { equal: false, places, differenceCount: places / 100 },
    ]);
    expect(restarts()).toEqual([expect.stringContaining('Redis restarted or failed over')]);
    expect(await generations.shadow('arena')).toBeUndefined();
  });

  it('of kind build ends at the live applied offsets if ingest is stopped; ingest applies later events to the new generation', async () => {
    await scene.stop('SIGKILL');
    const { sent } = scene.traffic;
    await scene.traffic.send(1_000);
    const reports = await build(BEST);
    expect(reports.map(({ records }) => records)).toEqual([sent, sent]);
    await scene.start();
    const built = new Set(reports.map(({ generation }) => generation));
    const changes = await scene.expectExact(BEST);
    expect(changes.filter(({ generation }) => built.has(generation))).toHaveLength(1_000);
  });

  it.each(['during the wait before it begins again', 'while its failure is reported'])(
    'of kind build that is cancelled %s undoes the first attempt and plans no other one',
    async (when) => {
      const { generations, leases, store } = sandbox;
      const withNew = SUMS.replace(
        'boards: {',
        'boards: { trials: { columns: [{ name: points }] },',
      );
      const { live, building: waiting } = await store.boards();
      jest.spyOn(generations, 'promote').mockResolvedValue({ status: 'shadowGone' });
      jest.spyOn(RestartPolicy.prototype, 'waitAfter').mockReturnValue(60_000); // until the abort
      const restarts = newWords(/begins again/);
      const cancelling = new AbortController();
      const plans = jest.spyOn(generations, 'shadow');
      let planned = 0;
      const renew = leases.renew.bind(leases);
      jest.spyOn(leases, 'renew').mockImplementation(async (lease, status) => {
        if (status?.state === 'failed') {
          planned = plans.mock.calls.length;
          if (when === 'while its failure is reported') cancelling.abort();
        }
        return renew(lease, status);
      });
      const building = build(withNew, { signal: cancelling.signal });
      const ended = expect(building).rejects.toBeInstanceOf(CancelledError);
      await until(() => restarts().length > 0, 'the first attempt has failed');
      cancelling.abort();
      await ended;
      expect(plans).toHaveBeenCalledTimes(planned);
      const after = await store.boards();
      expect([after.live, after.building]).toEqual([live, waiting]);
      for (const board of ['arena', 'cup', 'trials'])
        expect(await generations.shadow(board)).toBeUndefined();
      const states = (await leases.statuses()).map(({ state }) => state);
      expect(states).toEqual(['cancelled', 'cancelled', 'cancelled']);
    },
  );

  /** Makes Redis lose the shadow of "cup" once, when "arena" is done; then runs `onLoss`. */
  const loseCup = (onLoss: () => Promise<unknown>) => {
    const { generations, keys } = sandbox;
    const begun = Date.now();
    const promote = generations.promote.bind(generations);
    let isLost = false;
    jest.spyOn(generations, 'promote').mockImplementation(async (lease, shadow, ...args) => {
      if (shadow.board === 'cup' && !isLost) {
        isLost = true;
        await until(async () => {
          const status = await arena();
          return status?.state === 'done' && status.startedAt >= begun;
        }, '"arena" is done');
        await own.redis.hdel(keys.shadows(0), 'cup');
        await onLoss();
      }
      return promote(lease, shadow, ...args);
    });
  };

  it('of two boards, when it begins again, leaves the finished board to the new holder of the lease of that board', async () => {
    const restarts = newWords(/begins again/);
    const { leases, keys } = sandbox;
    let lease: Lease | undefined;
    loseCup(async () => {
      const isHeld = () => own.redis.exists(keys.lease(0, 'arena'));
      await until(async () => (await isHeld()) === 0, 'the lease of "arena" is released');
      lease = await leases.acquire('arena', 'somebody else');
    });
    try {
      const reports = await build(SUMS);
      expect(reports.map(({ board }) => board)).toEqual(['arena', 'cup']);
      expect(restarts()).not.toEqual([]);
    } finally {
      if (lease !== undefined) await leases.release(lease);
    }
  });

  it('of two boards, when it begins again and fails, keeps the status of the finished board', async () => {
    const done: unknown[] = [];
    loseCup(async () => {
      done.push(await arena());
      const loss = new LeaseLostError('cup', 'somebody else');
      jest.spyOn(sandbox.generations, 'promote').mockRejectedValue(loss);
    });
    await expect(build(BEST)).rejects.toThrow('somebody else');
    expect(await arena()).toEqual(done[0]);
  });
});
