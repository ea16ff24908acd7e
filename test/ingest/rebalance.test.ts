import { describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { event, expectRankChanges, useScoreTopic } from './score-topic.js';

const PARTITIONS = 100;
const KEPT = PARTITIONS / 2;
/** The most connections of the process to Kafka at a time. */
const MAX_CONNECTIONS = 19;

describe('a rebalance of many partitions', () => {
  const made = useScoreTopic({ partitions: PARTITIONS });

  it('starts partitions with few connections and shared requests, and does not restart partitions that stay', async () => {
    const { instance, log } = made;
    const proxy = await made.throughKafkaProxy();
    /** Counts requests of a kind from now on. */
    const counted = (...apis: (keyof typeof KAFKA_API)[]) => {
      const faults = apis.map((api) =>
        proxy.onRequest(KAFKA_API[api], { delayMs: 0 }, { times: Infinity }),
      );
      return () => faults.reduce((sum, { hits }) => sum + hits, 0);
    };
    /** Sends one event to each partition. */
    const produce = () =>
      log.sendMessages(
        Array.from({ length: PARTITIONS }, (_, partition) => ({
          partition,
          value: event(`player-${partition}`),
        })),
      );

    await produce();
    const lookups = counted('metadata', 'listOffsets', 'offsetFetch');
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, proxy.connections)), 1);
    await instance.start();
    await instance.published(PARTITIONS);
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(MAX_CONNECTIONS);
    expect(lookups()).toBeLessThan(15 * PARTITIONS); // without shared requests, 40 per partition

    proxy.clearFaults();
    const fencings = counted('initProducerId');
    const second = await instance.start();
    const started = () =>
      /assigned partitions ([\d, ]+)/.exec(second.errors)?.[1]?.split(',') ?? [];
    await until(() => started().length === KEPT, 'the second instance has its half');
    await produce();
    await instance.published(2 * PARTITIONS);
    expect(fencings()).toBe(PARTITIONS - KEPT);
    await expectRankChanges(instance, 2 * PARTITIONS);
  });
});
