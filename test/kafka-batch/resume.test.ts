import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { TestTopic } from './topic.js';

const SLOW_MS = 3_000;

/** kafkajs notices a resume only after its wait for a fetch, 5 s by default. */
describe('a consumer whose partitions were all paused', () => {
  const topics: TestTopic[] = [];
  afterEach(() => Promise.all(topics.splice(0).map((topic) => topic.remove())));

  /** Time in ms from a resume to the next record, with all partitions paused before. */
  async function latency(consumer?: { maxWaitTimeInMs: number }): Promise<number> {
    const topic = await TestTopic.create(1);
    topics.push(topic);
    const collector = new Collector(topic, {
      queue: { high: 0, low: 1, bytes: 1_000_000 },
      ...(consumer && { consumer }),
    });
    const release = collector.hold();
    const { client } = collector.consumer;
    await collector.start();
    await topic.send(0, ['handled']);
    await until(() => collector.entered === 1, 'a batch is handled');
    await topic.send(0, ['waiting']);
    await until(() => collector.isPaused(0), 'the partition is paused');
    await topic.send(0, ['next']);
    let turned = false;
    client.on(client.events.FETCH_START, () => (turned = true));
    await until(() => turned, 'the wait for a fetch has begun');
    release();
    const begin = performance.now();
    await until(() => collector.count(0) === 3, 'the next record is delivered');
    expect(collector.values(0)).toEqual(['handled', 'waiting', 'next']);
    return performance.now() - begin;
  }

  /** The first of three measurements that is as expected, or the last: a busy machine may delay one. */
  async function measured(
    work: () => Promise<number>,
    isExpected: (ms: number) => boolean,
  ): Promise<number> {
    let ms = await work();
    for (let again = 0; again < 2 && !isExpected(ms); again++) ms = await work();
    return ms;
  }

  it('gets the next record sooner than with a long wait for fetches', async () => {
    const slow = await measured(
      () => latency({ maxWaitTimeInMs: SLOW_MS }),
      (ms) => ms > SLOW_MS / 2,
    );
    const ours = await measured(latency, (ms) => ms < SLOW_MS / 3);
    process.stdout.write(
      `from resume to record: ${ours.toFixed()} ms; with a wait of ${SLOW_MS} ms ${slow.toFixed()} ms\n`,
    );
    expect(slow).toBeGreaterThan(SLOW_MS / 2); // otherwise the short wait is not needed any more
    expect(ours).toBeLessThan(SLOW_MS / 3);
  });
});
