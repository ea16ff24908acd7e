import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { TestTopic } from './topic.js';

const PARTITIONS = 12;
const PUBLISHERS = 4;
const TURNS = 10;

/** The shortest turn of the fetch loop. */
const TURN_MS = 200;
/** Timers of an idle connection during a turn. Without the patch kafkajs needs 200, one every millisecond. */
const MAX_PER_TURN = 10;

/** Counts the callbacks of all timers until `stop`. */
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

  it('sets few timers per fetch and connection, with any number of partitions and publishers', async () => {
    const timers = countTimers();
    try {
      const { consumer } = await Collector.start(topic);
      for (let id = 0; id < PUBLISHERS; id++) await topic.transactional(`${topic.name}-${id}`);
      let turns = 0;
      consumer.client.on(consumer.client.events.FETCH, () => (turns += 1));
      await until(() => turns > 0, 'it is idle');
      const [turnsBefore, firedBefore, begin] = [turns, timers.fired(), performance.now()];
      await until(() => turns >= turnsBefore + TURNS, 'the fetch loop has turned');
      const connections = PUBLISHERS + 3; // of the consumer: fetches, group; of its admin
      const perTurn = (timers.fired() - firedBefore) / ((performance.now() - begin) / TURN_MS);
      expect(perTurn / connections).toBeLessThan(MAX_PER_TURN);
    } finally {
      timers.stop();
    }
  });
});
