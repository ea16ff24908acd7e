import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { below } from '../faults/load.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';
import { definitionsOf, Ground, published, Traffic } from './ground.js';

const BOARDS = `boards:
  arena: { columns: [{ name: points }] }
  cup: { columns: [{ name: points }] }
`;
const PARTITIONS = 4;
const event = (serial: number) => ({
  board: serial % 3 === 0 ? 'cup' : 'arena',
  playerId: `player-${(serial * 7_919) % 300}`,
  delta: 1 + (serial % 7),
});

describe('a watermark that was moved by hand', () => {
  const { random, seed } = seededRandom();
  let instance: TestInstance;
  let ground: Ground;
  let traffic: Traffic;
  let key: string;
  let ingest: RanklogProcess;

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    ground = new Ground(instance);
    traffic = new Traffic(instance, event);
    key = ground.keys.watermarks(0);
    ingest = await instance.start();
    await traffic.send(2_000);
    await published(instance, traffic);
  }, 60_000);
  afterAll(async () => {
    await traffic.close();
    await instance.remove();
  });

  const options = () => ({ signal: AbortSignal.timeout(60_000) });
  const verify = () => ground.reconciler.verify(['arena', 'cup'], options());
  const rebuild = () => ground.reconciler.build(definitionsOf(BOARDS).slice(0, 1), options());
  const logEnd = async (partition: number) => {
    const offsets = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    return Number(offsets.find((found) => found.partition === partition)?.offset);
  };
  /** Both boards are what the log makes of them, and every event has one result. */
  const isAllThere = async () => {
    await published(instance, traffic).catch((error: unknown) => {
      throw new Error(
        `${String(error)} (seed ${seed}); ingest said last: ${ingest.errors.slice(-4_000)}`,
      );
    });
    const wrong = await Promise.all(definitionsOf(BOARDS).map((one) => ground.wrongViews(one)));
    expect({ seed, wrong: wrong.flat() }).toEqual({ seed, wrong: [] });
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    expect(new Set(causes).size).toBe(causes.length);
    expect(causes).toHaveLength(traffic.sent);
  };

  const MOVES: Readonly<Record<string, (partition: number) => Promise<unknown>>> = {
    'beyond the log': async (partition) =>
      ground.redis.hset(key, partition, (await logEnd(partition)) + 2_000),
    'just beyond the log': async (partition) =>
      ground.redis.hset(key, partition, (await logEnd(partition)) + 3),
    back: async (partition) =>
      ground.redis.hset(key, partition, Math.floor((await logEnd(partition)) / 2)),
    'to nowhere': async (partition) => ground.redis.hdel(key, String(partition)),
    'to nowhere, as all others': async () => ground.redis.del(key),
    'to what is no number': async (partition) => ground.redis.hset(key, partition, 'x'),
  };

  it.each(Object.entries(MOVES))(
    'is found %s, and mended by a build, with all that was written meanwhile',
    async (name, move) => {
      await move(below(random, PARTITIONS));
      await traffic.send(400);
      for (const report of await verify())
        expect({ seed, name, ...report }).toMatchObject({
          equal: false,
          differences: expect.arrayContaining([expect.objectContaining({ kind: 'watermark' })]),
        });
      await traffic.send(100);
      await rebuild();
      await isAllThere();
      expect(await verify()).toMatchObject([{ equal: true }, { equal: true }]);
    },
    120_000,
  );

  it.each(Object.entries(MOVES))(
    'that is moved %s during a build is put right by it, and misleads no board',
    async (name, move) => {
      let done = 0;
      const building = ground.reconciler.build(definitionsOf(BOARDS).slice(0, 1), {
        ...options(),
        eventsPerSecond: 3_000,
        onProgress: (progress) => ({ done } = progress),
      });
      building.catch(() => undefined);
      await until(() => done > 0, 'the build is under way');
      await move(below(random, PARTITIONS));
      await traffic.send(400);
      await building;
      await isAllThere();
      expect({ seed, name, reports: await verify() }).toMatchObject({
        reports: [{ equal: true }, { equal: true }],
      });
    },
    120_000,
  );

  it('is found and mended under traffic, wherever it was moved to', async () => {
    traffic.start(20, 20);
    for (let round = 0; round < 4; round++) {
      const partition = below(random, PARTITIONS);
      const moved = below(random, 2 * (await logEnd(partition)));
      await ground.redis.hset(key, partition, moved);
      const sent = traffic.sent;
      await until(() => traffic.sent > sent + 200, 'traffic flows');
      await rebuild();
    }
    await traffic.stop();
    await isAllThere();
    expect(await verify()).toMatchObject([{ equal: true }, { equal: true }]);
  }, 240_000);

  it('ends boards verify with 1, and boards rebuild with 0', async () => {
    await ground.redis.hset(key, '1', (await logEnd(1)) + 50);
    const verifying = instance.spawn('boards', 'verify', 'arena');
    expect(await verifying.ended).toBe(1);
    expect(verifying.output).toMatch(/^- +watermark +- +partition 1: \d+ +\d+$/m);
    await instance.run('boards', 'rebuild', 'arena');
    await instance.run('boards', 'verify');
    await isAllThere();
  }, 120_000);
});
