import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { TestTopic } from './topic.js';

const SLOW_MS = 3_000;

/** kafkajs notices a resume only when its wait for a fetch is over, 5 s unless told otherwise. */
describe('a consumer whose partitions were all paused', () => {
  const topics: TestTopic[] = [];
  afterEach(() => Promise.all(topics.splice(0).map((topic) => topic.remove())));

  /** Ms from a resume to the record behind it, with everything paused before. */
  async function latency(consumer?: { maxWaitTimeInMs: number }): Promise<number> {
    const topic = await TestTopic.create(1);
    topics.push(topic);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const collector = await Collector.start(topic, {
      queue: { high: 0, low: 1, bytes: 1_000_000 },
      before: () => held,
      ...(consumer === undefined ? {} : { consumer }),
    });
    const { client } = collector.consumer;
    await topic.send(0, ['in hand']);
    await until(() => collector.handed === 1, 'a batch is in hand');
    await topic.send(0, ['waits']);
    await until(() => collector.isPaused(0), 'it is paused');
    await topic.send(0, ['behind']);
    let turned = false;
    client.on(client.events.FETCH_START, () => (turned = true));
    await until(() => turned, 'the wait of a fetch has begun');
    release();
    const begin = performance.now();
    await until(() => collector.values(0).at(-1) === 'behind', 'the record behind has come');
    const ms = performance.now() - begin;
    await collector.consumer.close();
    return ms;
  }

  /** What is as expected in one of three tries, or the last of them: a busy machine delays one or another. */
  async function measured(
    work: () => Promise<number>,
    isExpected: (ms: number) => boolean,
  ): Promise<number> {
    let ms = await work();
    for (let again = 0; again < 2 && !isExpected(ms); again++) ms = await work();
    return ms;
  }

  it('has its next record in a small part of the time that a long wait for fetches would take', async () => {
    const slow = await measured(
      () => latency({ maxWaitTimeInMs: SLOW_MS }),
      (ms) => ms > SLOW_MS / 2,
    );
    const ours = await measured(latency, (ms) => ms < SLOW_MS / 3);
    process.stdout.write(
      `from resume to record: ${ours.toFixed()} ms; with a wait of ${SLOW_MS} ms ${slow.toFixed()} ms\n`,
    );
    expect(slow).toBeGreaterThan(SLOW_MS / 2); // or the weakness is gone
    expect(ours).toBeLessThan(SLOW_MS / 3);
  });
});
