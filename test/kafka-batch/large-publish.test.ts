import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TransactionalPublisher } from '#kafka-batch';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

const FEW = 5_000;
const MANY = 50_000;

/** Ten times as many take a hundred times as long in kafkajs, and nothing else runs meanwhile. */
describe('many results in one transaction', () => {
  let topic: TestTopic;
  let collector: Collector;
  let publisher: TransactionalPublisher;
  beforeEach(async () => {
    topic = await TestTopic.create(1, { 'max.message.bytes': '50000000' });
    collector = await Collector.start(topic, {
      consumer: { sessionTimeout: 15_000, heartbeatInterval: 500 },
    });
    publisher = await TransactionalPublisher.open({
      kafka: topic.kafka,
      transactionalId: topic.name,
    });
  });
  afterEach(async () => {
    await publisher.close();
    await collector.consumer.close();
    await topic.remove();
  });

  /** Ms that a publish of so many results takes. */
  async function publish(count: number, offset: number): Promise<number> {
    const messages = numbers(0, count).map((value) => ({ key: value, value: value.padEnd(150) }));
    const begin = performance.now();
    await publisher.publish({
      records: [{ topic: topic.name, partition: 0, messages }],
      offset: { groupId: `${topic.name}-results`, topic: topic.name, partition: 0, offset },
    });
    return performance.now() - begin;
  }

  it('take time in proportion, and the process stays in its group', async () => {
    await publish(FEW, 1); // warms up
    const few = await publish(FEW, 2);
    const most = (MANY / FEW) * 4 * few;
    let many = await publish(MANY, 3);
    let sent = 2 * FEW + MANY;
    if (many >= most) {
      many = await publish(MANY, 4); // a busy machine delays one or the other
      sent += MANY;
    }
    process.stdout.write(`${FEW}: ${few.toFixed()} ms, ${MANY}: ${many.toFixed()} ms\n`);
    expect(many).toBeLessThan(most);
    await until(() => collector.count(0) === sent, 'all are read');
    expect(collector.starts).toBe(1); // a member that is thrown out joins, and starts, again
  });
});
