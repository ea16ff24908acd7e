import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import {
  closeScene,
  definitionsOf,
  type Ground,
  openScene,
  published,
  type Traffic,
} from './ground.js';

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
  let ground: Ground;
  let traffic: Traffic;

  beforeEach(async () => {
    ({ instance, ground, traffic } = await openScene(BOARDS, event));
    await instance.start();
  });
  afterEach(() => closeScene({ instance, ground, traffic }));

  it('leaves the live board alone, and the next one goes on with what is missing', async () => {
    await traffic.send(PLAYERS);
    await published(instance, traffic);
    const before = await ground.live('arena');
    const builder = instance.spawn('boards', 'rebuild', 'arena', '--throttle', THROTTLE);
    await until(
      async () => (await ground.generations.shadow('arena')) !== undefined,
      'the build has begun',
    );
    const shadow = await ground.generations.shadow('arena');
    if (shadow === undefined) throw new Error('the build has ended');
    const ranking = ground.keys.ranking(0, shadow.generation, 'all');
    const ranked = () => instance.redis.zcard(ranking);
    await until(async () => (await ranked()) > 0, 'some players are in order');
    builder.kill('SIGKILL');
    await builder.ended;
    expect(await ranked()).toBeLessThan(PLAYERS);
    expect((await ground.live('arena')).generation).toBe(before.generation);
    await instance.redis.del(ground.keys.lease(0, 'arena')); // it would run out
    const lease = await ground.leases.acquire('arena', 'test');
    const flip = await ground.generations.flip(lease, shadow, [], { graceMs: 60_000 });
    expect(flip).toEqual({ status: 'unordered' });
    await ground.leases.release(lease);

    traffic.start(20, 10);
    const signal = AbortSignal.timeout(240_000);
    const [report] = await ground.reconciler.build(definitionsOf(BOARDS), { signal });
    expect(report).toMatchObject({ generation: shadow.generation, previous: before.generation });
    await traffic.stop();
    await published(instance, traffic);
    const [definition] = definitionsOf(BOARDS);
    expect(definition && (await ground.wrongViews(definition))).toEqual([]);
  });
});
