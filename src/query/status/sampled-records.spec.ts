import { describe, expect, it } from '@jest/globals';
import { partitionOf } from '#kafka-batch';
import { misplacedAmong, misplacedText } from './sampled-records.js';

const sample = (playerId: string, partition: number, key: string | null = playerId) => {
  const value = Buffer.from(JSON.stringify({ board: 'arena', playerId, delta: 1 }));
  const bytes = key === null ? null : Buffer.from(key);
  return { record: { offset: 0, timestamp: 1_000, headers: {}, key: bytes, value }, partition };
};
const players = Array.from({ length: 60 }, (_, n) => `p-${n}`);
const placedBy = (partitions: number) =>
  players.map((player) => sample(player, partitionOf(player, partitions)));

describe('the sample of the last score events', () => {
  it('finds nothing if all are where the default partitioner puts them', () => {
    const found = misplacedAmong(placedBy(6), 6);
    expect(found).toEqual({ sampled: 60, key: 0, partition: 0, earlier: null });
    expect(misplacedText(found)).toBe('');
  });

  it('names the number of partitions by which all are placed: then partitions were added', () => {
    const found = misplacedAmong([...placedBy(4), sample('ann', 0, null)], 6);
    expect(found).toMatchObject({
      ...{ sampled: 61, key: 1 },
      earlier: { partitions: 4, lastAt: '1970-01-01T00:00:01.000Z' },
    });
    expect(found.partition).toBeGreaterThan(0);
    expect(misplacedText(found)).toContain('as with 4 partitions, the last at 1970-01-01T00:00:01');
  });

  it('shows a timestamp that is no time as the number', () => {
    const late = placedBy(4).map(({ record, partition }) => ({
      record: { ...record, timestamp: 9e15 },
      partition,
    }));
    expect(misplacedAmong(late, 6).earlier).toEqual({ partitions: 4, lastAt: '9000000000000000' });
  });

  it('names none for another partitioner', () => {
    const other = players.map((player, n) => sample(player, n % 6));
    expect(misplacedAmong(other, 6).earlier).toBeNull();
  });
});
