import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { BOARDS, expectRankChanges, ScoreTopic } from './score-topic.js';

const PARTITIONS = 100;
const KEPT = PARTITIONS / 2;
/** Of the process and the client of this test. */
const MAX_CONNECTIONS = 19;

describe('a rebalance of many partitions', () => {
  let proxy: KafkaProxy;
  let instance: TestInstance;
  let log: ScoreTopic;
  beforeEach(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
    instance.env['KAFKA_BROKERS'] = proxy.broker; // of the processes
    log = new ScoreTopic(instance);
  });
  afterEach(async () => {
    await instance.remove();
    await proxy.close();
  });

  /** Counts requests of a kind from now on. */
  const counted = (...apis: (keyof typeof KAFKA_API)[]) => {
    const faults = apis.map((api) =>
      proxy.onRequest(KAFKA_API[api], { delayMs: 0 }, { times: Infinity }),
    );
    return () => faults.reduce((sum, { hits }) => sum + hits, 0);
  };

  /** One event to each partition. */
  const produce = () =>
    log.sendMessages(
      Array.from({ length: PARTITIONS }, (_, partition) => ({
        partition,
        value: JSON.stringify({ board: 'arena', playerId: `player-${partition}`, delta: 1 }),
      })),
    );

  it('starts them with few connections and shared requests, and does not restart partitions that stay', async () => {
    await produce();
    const lookups = counted('metadata', 'listOffsets', 'offsetFetch');
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, proxy.connections)), 1);
    await instance.start();
    await instance.published(PARTITIONS);
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(MAX_CONNECTIONS);
    expect(lookups()).toBeLessThan(15 * PARTITIONS); // 40 without shared requests

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
