import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

const FEW = 5_000;
const MANY = 50_000;

/** In kafkajs, ten times as many messages in a send take a hundred times as long, and block the event loop. */
describe('many results in one transaction', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(1, { 'max.message.bytes': '50000000' });
  });
  afterEach(() => topic.remove());

  it('take time in proportion, and the process stays in its group', async () => {
    const collector = await Collector.start(topic, {
      consumer: { sessionTimeout: 15_000, heartbeatInterval: 500 },
    });
    const publisher = await topic.publisher();
    let sent = 0;
    const publish = async (count: number) => {
      const values = numbers(0, count).map((value) => value.padEnd(150));
      const { records, offset } = topic.publication(values, (sent += count));
      const begin = performance.now();
      await publisher.publish({ records, offset: { ...offset, groupId: `${topic.name}-results` } });
      return performance.now() - begin;
    };
    await publish(FEW); // warms up
    const few = await publish(FEW);
    const limit = (MANY / FEW) * 4 * few;
    let many = await publish(MANY);
    if (many >= limit) many = await publish(MANY); // a busy machine may delay one
    process.stdout.write(`${FEW}: ${few.toFixed()} ms, ${MANY}: ${many.toFixed()} ms\n`);
    expect(many).toBeLessThan(limit);
    await until(() => collector.count(0) === sent, 'all results are delivered');
    expect(collector.starts).toBe(1); // a removed member would start again
  });
});
