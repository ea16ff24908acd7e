import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '../../../test/support/seeded-random.js';
import { HashedMap } from './hashed-map.js';

describe('HashedMap', () => {
  const { random, seed } = seededRandom();

  it('has the entries of a Map, also after it grew', () => {
    process.stderr.write(`hashed-map.spec: RANKLOG_TEST_SEED=${seed}\n`);
    const [map, expected] = [new HashedMap(), new Map<string, number>()];
    for (let round = 0; round < 150_000; round++) {
      const [text, value] = [`p-${Math.floor(random() * 120_000)}`, Math.floor(random() * 2 ** 53)];
      map.set(text, value);
      expected.set(text, value);
    }
    expect(map.size).toBe(expected.size);
    const texts = Array.from({ length: 130_000 }, (_, serial) => `p-${serial}`);
    const found = (of: typeof map | typeof expected) => texts.map((text) => of.get(text));
    expect(found(map)).toEqual(found(expected));
  });
});
