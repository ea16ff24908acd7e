import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { damages, type Damage } from '../board-store/damages.js';
import { below } from '../faults/load.js';
import type { Oracle } from '../model/oracle.js';
import { TestInstance, until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { definitionsOf, Sandbox, published, Traffic } from './sandbox.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }]
    windows: [all, day]
    dimensions: [[], [region]]
    publish: { leaders: 3 }
    deduplicate: 24h
`;
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

/** The board-store suite tries the others; these change what is read in any state of a board. */
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

describe('verify', () => {
  const { random, seed } = seededRandom();
  let instance: TestInstance;
  let sandbox: Sandbox;
  let traffic: Traffic;
  /** What the log makes of the board, until more is sent. */
  let oracle: Oracle | undefined;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    sandbox = new Sandbox(instance);
    traffic = new Traffic(instance, event);
    await instance.start();
    await traffic.send(1_000);
    await published(instance, traffic);
  });
  afterAll(async () => {
    await traffic.close();
    await instance.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(240_000) });
  const verify = async () => {
    const [report] = await sandbox.reconciler.verify(['arena'], options());
    if (report === undefined) throw new Error('there is no report');
    return report;
  };
  const wrongViews = async () => {
    const [definition] = definitionsOf(BOARDS);
    oracle ??= await sandbox.oracle(definition!);
    return sandbox.wrongViews(definition!, oracle);
  };
  const rebuild = () => sandbox.reconciler.build(definitionsOf(BOARDS), options());

  it.each(DAMAGES)('finds $name, which a build repairs', async ({ name, damage }) => {
    const { keys, redis, store } = sandbox;
    const place = { keys, shard: store.shardOf('arena'), live: await sandbox.live('arena') };
    const choice = Array.from({ length: 3 }, () => below(random, 1_000));
    await damage(redis, place, choice);
    const found = await verify();
    expect({ seed, name, choice, equal: found.equal }).toMatchObject({ equal: false });
    expect(found.differenceCount).toBeGreaterThan(0);
    await rebuild();
    const repaired = await verify();
    expect({ seed, name, choice, differences: repaired.differences }).toMatchObject({
      differences: [],
    });
    expect(await wrongViews()).toEqual([]);
  });

  // Last: what is sent meanwhile, the others would have to read each time.
  it('under heavy traffic on 12 partitions ends, and finds nothing where nothing is wrong', async () => {
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
    await published(instance, traffic);
  });
});
