import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { damages, type Damage } from '../board-store/damages.js';
import { below } from '../faults/random.js';
import type { Oracle } from '../model/oracle.js';
import { until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { definitionsOf, RUN, Scene, type Sandbox } from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: 3 }
    deduplicate: 24h
`;
/** A board whose maxViews refuses events; which ones depends on how the partitions interleave. */
const rooms = (maxViews: number) =>
  `  rooms: { columns: [{ name: points }], dimensions: [[region]], maxViews: ${maxViews} }\n`;
const PARTITIONS = 12;
const BASE = Date.parse('2026-03-01T00:00:00Z');
const event = (serial: number) => ({
  board: 'arena',
  eventId: `event-${serial}`,
  playerId: `player-${(serial * 7_919) % 700}`,
  delta: (serial % 11) - 3,
  occurredAt: new Date(BASE + serial * 1_000).toISOString(),
  attributes: { region: serial % 2 === 0 ? 'eu' : 'us' },
});

/**
 * Damages that change any board, whatever its state; test/board-store/damage.test.ts tries all of
 * `damages`.
 */
const DAMAGES: readonly Damage[] = [
  ...['ZADD of a member', 'ZREM', 'DEL of a ranking', 'HDEL of a view'].map((name) =>
    damages.find((damage) => damage.name === name)!,
  ),
  {
    name: 'another time of an event id',
    damage: async (redis, { keys, shard, live }, [partition = 0]) => {
      const ids = keys.eventIds(shard, live.generation, partition % PARTITIONS);
      const [id = '', time] = await redis.zrevrange(ids, 0, 0, 'WITHSCORES');
      return redis.zadd(ids, 'XX', Number(time) - 1, id);
    },
  },
];

const roomsEvent = (serial: number) => ({
  board: 'rooms',
  playerId: `player-${serial % 40}`,
  delta: 1,
  attributes: { region: `r${serial % 12}` },
});

describe('verify', () => {
  const { random, seed } = seededRandom();
  let scene: Scene;
  let sandbox: Sandbox;
  /** An oracle that has applied the whole log; valid until more events are sent. */
  let oracle: Oracle | undefined;

  beforeAll(async () => {
    const options = { partitions: PARTITIONS, sent: 1_000 };
    scene = await Scene.open(BOARDS + rooms(5), event, options);
    ({ sandbox } = scene);
  });
  afterAll(() => scene.close());

  const definitions = definitionsOf(BOARDS);
  const verify = async () => (await sandbox.reconciler.verify(['arena'], RUN))[0]!;

  it.each(DAMAGES)('finds $name, which a build repairs', async ({ name, damage }) => {
    const { keys, redis, store } = sandbox;
    const place = { keys, shard: store.shardOf('arena'), live: await sandbox.live('arena') };
    const choice = Array.from({ length: 3 }, () => below(random, 1_000));
    await damage(redis, place, choice);
    const found = await verify();
    expect({ seed, name, choice, equal: found.equal }).toMatchObject({ equal: false });
    expect(found.differenceCount).toBeGreaterThan(0);
    await sandbox.reconciler.build(definitions, RUN);
    const repaired = await verify();
    expect({ seed, name, choice, differences: repaired.differences }).toMatchObject({
      differences: [],
    });
    oracle ??= await sandbox.oracle(definitions[0]!);
    expect(await sandbox.wrongViews(definitions[0]!, oracle)).toEqual([]);
  });

  it('does not compare a board whose maxViews has refused events, until it is built with a maxViews that is large enough', async () => {
    const { instance, traffic } = scene;
    const more = Array.from({ length: 200 }, (_, serial) => JSON.stringify(roomsEvent(serial)));
    await instance.produce(more);
    await instance.published(traffic.sent + more.length);
    const [arena, refused] = await sandbox.reconciler.verify(['arena', 'rooms'], RUN);
    expect(arena).toMatchObject({ equal: true });
    expect(arena).not.toHaveProperty('tooManyViews');
    expect(refused).toMatchObject({ equal: null, differences: [], differenceCount: 0 });
    expect(refused?.tooManyViews?.expected).toBeGreaterThan(0);
    expect(refused?.tooManyViews?.found).toBeGreaterThan(0);
    const statuses = (await sandbox.leases.statuses()).map(({ board, equal }) => [board, equal]);
    expect(Object.fromEntries(statuses)).toMatchObject({ arena: true, rooms: null });
    const command = instance.spawn('boards', 'verify');
    expect(await command.ended).toBe(2);
    expect(command.output).toMatch(/^rooms: not comparable: maxViews refused .* raise maxViews/m);
    expect(command.output).toMatch(/^arena: equal to the log/m);
    const enough = definitionsOf(`boards:\n${rooms(50)}`);
    await sandbox.reconciler.build(enough, RUN);
    const compared = await sandbox.reconciler.verify(['rooms'], RUN);
    expect(compared).toMatchObject([{ equal: true, views: 12 }]);
  });

  // Last, because each verify and build of a later test would have to read these events, too.
  it('finds no difference under heavy traffic on 12 partitions', async () => {
    const { traffic } = scene;
    traffic.start(100, 50);
    const sent = traffic.sent;
    await until(() => traffic.sent > sent + 2_000, 'traffic flows');
    const reports = [await verify(), await verify()];
    await traffic.stop();
    for (const { differences, equal, places, views } of reports)
      expect({ differences, equal, places: places > 1_000, views }).toMatchObject({
        differences: [],
        equal: true,
        places: true,
      });
    expect(await sandbox.generations.shadow('arena')).toBeUndefined();
  });
});
