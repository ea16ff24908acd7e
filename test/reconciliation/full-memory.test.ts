import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EXIT } from '../../src/cli/text/exit-codes.js';
import { exitCodeOf } from '../../src/cli/text/failures.js';
import { OutOfMemoryError } from '../../src/reconciliation/runs/run-errors.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { definitionsOf, RUN, Scene } from './sandbox.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }] }
  cup: { columns: [{ name: points }] }
`;
const PLAYERS = 10_000;
const LONG = 'x'.repeat(100);
const event = (serial: number) => ({
  board: 'arena',
  playerId: `${LONG}-${serial % PLAYERS}`,
  delta: 1 + serial,
});

/**
 * Memory that is free beside the live board. Even the smallest shadow, that of a verify, takes
 * three times as much, so it does not fit, not even after the memory of published results has
 * become free.
 */
const ROOM = 750_000;

describe('a Redis without room for a second generation', () => {
  let own: RedisServer;
  let scene: Scene;

  beforeAll(async () => {
    own = await RedisServer.start();
    scene = await Scene.open(BOARDS, event, { ownRedis: own, sent: PLAYERS });
  });
  beforeEach(async () => {
    await scene.sandbox.sweep();
    await eventually(isFreed, 'Redis has freed what was unlinked');
    const { used } = await scene.sandbox.store.memory();
    await own.redis.config('SET', 'maxmemory', String(used + ROOM));
  });
  afterAll(() => scene.close());

  /** Redis frees the memory of large keys in the background. */
  async function isFreed(): Promise<boolean> {
    return /^lazyfree_pending_objects:0\r$/m.test(await own.redis.info('memory'));
  }

  const arena = definitionsOf(BOARDS).slice(0, 1);

  it.each([
    ['build', () => scene.sandbox.reconciler.build(arena, RUN)],
    [
      'background build',
      () => scene.sandbox.reconciler.build(arena, { ...RUN, keepsShadows: true }),
    ],
    ['snapshot', () => scene.sandbox.reconciler.snapshot('arena', Date.now(), RUN)],
    ['verify', () => scene.sandbox.reconciler.verify(['arena'], RUN)],
  ])('frees the memory of a %s that fills it, and live events go on', async (_, run) => {
    const { generations, leases } = scene.sandbox;
    const failure = await run().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(OutOfMemoryError);
    expect(exitCodeOf(failure)).toBe(EXIT.unreachable);
    expect((failure as Error).message).toMatch(
      /^Redis is full \(maxmemory \d+\.\d MB, used \d+\.\d MB\): .*"arena".* raise maxmemory, /,
    );
    expect(await generations.shadow('arena')).toBeUndefined();
    expect(await leases.statuses()).toMatchObject([
      { board: 'arena', state: 'failed', outcome: (failure as Error).message },
    ]);
    await scene.send(200);
  });

  it('refuses a lease with the same error; the board is exact after all these reconciliations', async () => {
    await own.redis.config('SET', 'maxmemory', '1');
    await expect(scene.sandbox.reconciler.build(arena, RUN)).rejects.toThrow(OutOfMemoryError);
    expect(await scene.sandbox.wrongViews(arena[0]!)).toEqual([]);
  });
});
