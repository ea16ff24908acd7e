import { beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import { patchKafkajs } from './kafkajs-patches.js';

describe('a cluster of kafkajs that is patched', () => {
  beforeAll(() => patchKafkajs());

  it('looks again for the offsets of a topic of which a broker tells no partitions yet', async () => {
    const admin = new Kafka({ brokers: ['localhost:1'], logLevel: logLevel.NOTHING }).admin();
    let looks = 0;
    const partitions = [{ partition: 0, offset: '7' }];
    const restore = stub({
      addTargetTopic: () => Promise.resolve(),
      refreshMetadataIfNecessary: () => Promise.resolve(),
      refreshMetadata: () => Promise.resolve(looks++),
      findTopicPartitionMetadata: () => (looks === 0 ? [] : [{ partitionId: 0 }]),
      findLeaderForPartitions: () => (looks === 0 ? {} : { 1: [0] }),
      findBroker: () =>
        Promise.resolve({
          listOffsets: () => Promise.resolve({ responses: [{ topic: 'scores', partitions }] }),
        }),
    });
    try {
      expect(await admin.fetchTopicOffsets('scores')).toMatchObject([{ low: '7', high: '7' }]);
    } finally {
      restore();
    }
    expect(looks).toBe(1);
  });
});

/** Gives all clusters other methods; answers what takes them away again. */
function stub(methods: object): () => void {
  const before = Object.getOwnPropertyDescriptors(Cluster.prototype);
  Object.assign(Cluster.prototype, methods);
  return () => Object.defineProperties(Cluster.prototype, before);
}
