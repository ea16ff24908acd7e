import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { logRanges } from '#kafka-batch';
import { generationMemory } from '../../src/reconciliation/plan/generation-memory.js';
import { readSample } from '../../src/reconciliation/plan/log-sample.js';
import { TestInstance } from '../support/instance.js';

const BOARDS = 'boards:\n  arena: { columns: [{ name: score }] }\n';
const RECORDS = 12_000;

describe('what a plan is made of', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterAll(() => instance.remove());

  /** Sends records to a partition: score events whose player is their number, with others that are none. */
  async function fill(partition: number, count: number, first = 0): Promise<void> {
    const producer = instance.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const messages = Array.from({ length: count }, (_, index) => ({
      partition,
      value:
        index % 10 === 9
          ? 'garbage'
          : JSON.stringify({
              board: 'arena',
              playerId: `${partition}-${first + index}`,
              delta: '1',
            }),
    }));
    await producer.send({ topic: instance.topics.scoreEvents, messages });
    await producer.disconnect();
  }

  const sample = async () => {
    const { kafka, admin, topics } = instance;
    const topic = topics.scoreEvents;
    return readSample({ kafka, topic, ranges: await logRanges(admin, topic) });
  };

  it('a short log is looked at as a whole, an empty one, too', async () => {
    expect(await sample()).toEqual({ events: [], records: 0, total: 0, rate: null });
    await fill(0, 1_000);
    const { events, records, total, rate } = await sample();
    expect([events.length, records, total]).toEqual([900, 1_000, 1_000]);
    expect(rate).toBeGreaterThan(0);
  });

  it('of a long log it is some thousand records of each part of each partition', async () => {
    await fill(0, RECORDS - 1_000, 1_000);
    await fill(1, RECORDS);
    const { events, records, total } = await sample();
    expect(total).toBe(2 * RECORDS);
    expect(records).toBeGreaterThan(8_900);
    expect(records).toBeLessThan(9_100);
    for (const partition of [0, 1]) {
      const numbers = events
        .map(({ playerId }) => playerId.split('-').map(Number))
        .filter(([of]) => of === partition)
        .map(([, number]) => number ?? -1);
      const third = RECORDS / 3;
      const parts = [0, 1, 2].map(
        (part) => numbers.filter((number) => Math.floor(number / third) === part).length,
      );
      for (const part of parts) expect(part).toBeGreaterThan(900);
      expect(new Set(numbers).size).toBe(numbers.length);
    }
  });

  it('the memory of many views is that of some of them, to within a tenth', async () => {
    const { redis, name } = instance;
    const keys = new KeySpace(name);
    const place = { shard: 0, generation: 'g' };
    const views = Array.from({ length: 120 }, (_, index) => ({
      view: `all region=r${index}`,
      size: index < 5 ? 1_000 : 20 + (index % 150),
    }));
    for (const { view, size } of views) {
      const players = Array.from({ length: size }, (_, index) => `player-${index}`);
      await redis.zadd(
        keys.ranking(0, 'g', view),
        ...players.flatMap((player, index) => [-index, `#######${player}`]),
      );
      await redis.hset(
        keys.players(0, 'g', view),
        Object.fromEntries(players.map((player, index) => [player, `-${index}@1767225600000`])),
      );
    }
    let bytes = 0;
    for (const { view } of views)
      for (const key of [keys.ranking(0, 'g', view), keys.players(0, 'g', view)])
        bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;

    const measured = await generationMemory(redis, keys, { ...place, views });
    expect(measured.placings).toBe(views.reduce((sum, { size }) => sum + size, 0));
    expect(measured.bytes / bytes).toBeGreaterThan(0.9);
    expect(measured.bytes / bytes).toBeLessThan(1.1);
  });
});
