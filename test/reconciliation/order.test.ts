import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import {
  closeScene,
  definitionsOf,
  type Sandbox,
  openScene,
  published,
  type Traffic,
} from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
`;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const PLAYERS = 4_000;
/** Records, and players that are put in order, a second: so that there is time to kill who does it. */
const THROTTLE = '800';

const event = (serial: number) => ({
  board: 'arena',
  playerId: `player-${serial % PLAYERS}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial * 1_000).toISOString(),
});

describe('a build that is killed while the players are put in order', () => {
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;

  beforeEach(async () => {
    ({ instance, sandbox, traffic } = await openScene(BOARDS, event));
    await instance.start();
  });
  afterEach(() => closeScene({ instance, sandbox, traffic }));

  it('leaves the live board alone, and the next one goes on with what is missing', async () => {
    await traffic.send(PLAYERS);
    await published(instance, traffic);
    const before = await sandbox.live('arena');
    const builder = instance.spawn('boards', 'rebuild', 'arena', '--throttle', THROTTLE);
    await until(
      async () => (await sandbox.generations.shadow('arena')) !== undefined,
      'the build has begun',
    );
    const shadow = await sandbox.generations.shadow('arena');
    if (shadow === undefined) throw new Error('the build has ended');
    const ranking = sandbox.keys.ranking(0, shadow.generation, 'all');
    const ranked = () => instance.redis.zcard(ranking);
    await until(async () => (await ranked()) > 0, 'some players are in order');
    builder.kill('SIGKILL');
    await builder.ended;
    expect(await ranked()).toBeLessThan(PLAYERS);
    expect((await sandbox.live('arena')).generation).toBe(before.generation);
    await instance.redis.del(sandbox.keys.lease(0, 'arena')); // it would run out
    const lease = await sandbox.leases.acquire('arena', 'test');
    const promotion = await sandbox.generations.promote(lease, shadow, [], { graceMs: 60_000 });
    expect(promotion).toEqual({ status: 'unordered' });
    await sandbox.leases.release(lease);

    traffic.start(20, 10);
    const signal = AbortSignal.timeout(240_000);
    const [report] = await sandbox.reconciler.build(definitionsOf(BOARDS), { signal });
    expect(report).toMatchObject({ generation: shadow.generation, previous: before.generation });
    await traffic.stop();
    await published(instance, traffic);
    const [definition] = definitionsOf(BOARDS);
    expect(definition && (await sandbox.wrongViews(definition))).toEqual([]);
  });
});
