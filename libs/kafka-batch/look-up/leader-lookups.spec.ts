import { expect, it } from '@jest/globals';
import type Cluster from 'kafkajs/src/cluster/index.js';
import { LeaderLookups } from './leader-lookups.js';

interface Asked {
  readonly topics: readonly { topic: string; partitions: readonly { partition: number }[] }[];
}

/**
 * A cluster whose only broker ends each partition at its number, in the topic `ten` at ten times
 * that.
 */
function fixture() {
  const requests: Asked[] = [];
  const listOffsets = (asked: Asked) => {
    requests.push(asked);
    const responses = asked.topics.map(({ topic, partitions }) => {
      const offsetOf = (partition: number) => String(topic === 'ten' ? 10 * partition : partition);
      return {
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, offset: offsetOf(partition) })),
      };
    });
    return Promise.resolve({ responses });
  };
  const cluster = { findBroker: () => Promise.resolve({ listOffsets }) };
  return { requests, leader: new LeaderLookups(cluster as unknown as Cluster, 1) };
}

it('concurrent look-ups of several topics share a request, which asks for each partition once', async () => {
  const { requests, leader } = fixture();
  const at = (topic: string, partition: number) => ({ topic, partition });
  const asks = [at('one', 1), at('one', 2), at('ten', 1), at('one', 1)];
  const ranges = await Promise.all(asks.map((ask) => leader.range(ask)));
  expect(ranges.map(({ end }) => end)).toEqual([1, 2, 10, 1]);
  const asked = requests.map(({ topics }) =>
    topics.map(({ topic, partitions }) => [topic, partitions.map(({ partition }) => partition)]),
  );
  const once = [
    ['one', [1, 2]],
    ['ten', [1]],
  ];
  expect(asked).toEqual([once, once]); // of the starts, and of the ends
});
