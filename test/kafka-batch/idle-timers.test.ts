import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector, transactional } from './collector.js';
import { TestTopic } from './topic.js';

const PARTITIONS = 12;
const PUBLISHERS = 4;
const TURNS = 10;

/** Of the fetch loop, at the least. */
const TURN_MS = 200;
/**
 * Timers of an idle connection in the time of a turn: requests that are answered, and a look at
 * their timeouts every 100 ms. kafkajs as it is wakes up every millisecond: 200 for each connection.
 */
const MOST_FOR_A_TURN = 10;

/** Counts the callbacks of all timers from now on, until `stop`. */
function countTimers() {
  const { setTimeout, setInterval } = globalThis;
  let fired = 0;
  const counting =
    (plain: typeof setTimeout | typeof setInterval) =>
    (callback: (...args: unknown[]) => void, ...more: unknown[]) =>
      (plain as (...all: unknown[]) => unknown)(
        (...args: unknown[]) => {
          fired += 1;
          callback(...args);
        },
        ...more,
      );
  Object.assign(globalThis, {
    setTimeout: counting(setTimeout),
    setInterval: counting(setInterval),
  });
  return {
    fired: () => fired,
    stop: () => Object.assign(globalThis, { setTimeout, setInterval }),
  };
}

describe('an idle service', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(PARTITIONS);
  });
  afterEach(() => topic.remove());

  it('wakes up a few times for each fetch, however many partitions and publishers it has', async () => {
    const timers = countTimers();
    const collector = await Collector.start(topic);
    const producers = await Promise.all(
      Array.from({ length: PUBLISHERS }, (_, id) =>
        transactional(topic.kafka, `${topic.name}-${id}`),
      ),
    );
    try {
      let turns = 0;
      const { client } = collector.consumer;
      client.on(client.events.FETCH, () => (turns += 1));
      await until(() => turns > 0, 'it is idle');
      const [turnsBefore, firedBefore, begin] = [turns, timers.fired(), performance.now()];
      await until(() => turns >= turnsBefore + TURNS, 'the fetch loop has turned');
      const connections = PUBLISHERS + 3; // of the consumer: fetches, group; of its admin
      const perTurn = (timers.fired() - firedBefore) / ((performance.now() - begin) / TURN_MS);
      expect(perTurn / connections).toBeLessThan(MOST_FOR_A_TURN);
    } finally {
      timers.stop();
      await Promise.all(producers.map((producer) => producer.disconnect()));
      await collector.consumer.close();
    }
  });
});
