import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import murmur2OfKafkajs from 'kafkajs/src/producer/partitioners/default/murmur2.js';
import { murmur2, partitionOf } from './partitioner.js';

describe('the partitioner', () => {
  it('hashes bytes of every length as kafkajs does', () => {
    for (let length = 0; length < 200; length++) {
      const key = randomBytes(length);
      expect([key.toString('hex'), murmur2(key)]).toEqual([
        key.toString('hex'),
        murmur2OfKafkajs(key),
      ]);
    }
  });

  it('takes the partition of a text and of its bytes alike', () => {
    expect(partitionOf('Zo\u00eb', 96)).toBe(partitionOf(Buffer.from('Zo\u00eb'), 96));
    expect(partitionOf('TT0124', 4)).toBe(2);
  });
});
