import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { generationMemory } from '../../src/registry/generation-memory.js';
import { TestInstance } from '../support/instance.js';

const BOARDS = 'boards:\n  arena: { columns: [{ name: score }] }\n';

describe('what a plan is made of', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterAll(() => instance.remove());

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
    expect(measured / bytes).toBeGreaterThan(0.9);
    expect(measured / bytes).toBeLessThan(1.1);
  });
});
