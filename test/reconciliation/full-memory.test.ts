import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EXIT } from '../../src/cli/exit-codes.js';
import { exitCodeOf } from '../../src/cli/failures.js';
import { OutOfMemoryError } from '../../src/generations/errors.js';
import type { TestInstance } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';
import {
  closeScene,
  definitionsOf,
  openScene,
  published,
  type Sandbox,
  type Traffic,
} from './sandbox.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }] }
  cup: { columns: [{ name: points }] }
`;
const PLAYERS = 20_000;
const LONG = 'x'.repeat(100);
const event = (serial: number) => ({
  board: 'arena',
  playerId: `${LONG}-${serial % PLAYERS}`,
  delta: 1 + serial,
});

/**
 * What is left beside the live board. The smallest shadow, that of a verify, takes three times as much, so that it does not
 * fit when results that were in the outbox are gone, either.
 */
const ROOM = 1_500_000;

describe('a Redis that has no room for a second generation', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    own = await RedisServer.start();
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event, { own }));
    await instance.start();
    await traffic.send(PLAYERS);
    await published(instance, traffic);
    const { used } = await sandbox.store.memory();
    await own.redis.config('SET', 'maxmemory', String(used + ROOM));
  });
  afterEach(async () => {
    await closeScene({ instance, sandbox, traffic });
    await own.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const arena = definitionsOf(BOARDS).slice(0, 1);

  it.each([
    ['build', () => sandbox.reconciler.build(arena, options())],
    [
      'background build',
      () => sandbox.reconciler.build(arena, { ...options(), keepsShadows: true }),
    ],
    ['snapshot', () => sandbox.reconciler.snapshot('arena', Date.now(), options())],
    ['verify', () => sandbox.reconciler.verify(['arena'], options())],
  ])('gets it back from a %s that fills it up, and live events go on', async (_, run) => {
    const failure = await run().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(OutOfMemoryError);
    expect(exitCodeOf(failure)).toBe(EXIT.unreachable);
    expect((failure as Error).message).toMatch(
      /^Redis is full \(maxmemory \d+\.\d MB, used \d+\.\d MB\): .*"arena".* raise maxmemory, /,
    );
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
    expect(await sandbox.leases.statuses()).toMatchObject([
      { board: 'arena', state: 'failed', outcome: (failure as Error).message },
    ]);
    await traffic.send(200);
    await published(instance, traffic);
    expect(await sandbox.wrongViews(arena[0]!)).toEqual([]);
  });

  it('says so to who asks for a lease, too', async () => {
    await own.redis.config('SET', 'maxmemory', '1');
    await expect(sandbox.reconciler.build(arena, options())).rejects.toThrow(OutOfMemoryError);
  });
});
