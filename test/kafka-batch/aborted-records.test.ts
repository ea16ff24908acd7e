import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.js';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { writeInterleaved } from './interleaved.js';
import { TestTopic } from './topic.js';

describe('a partition that two transactional producers write', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(1);
  });
  afterEach(() => topic.remove());

  it.each(['before', 'while'])(
    'delivers only the committed records, written %s the consumer runs',
    async (when) => {
      const { random, seed } = seededRandom();
      process.stdout.write(`seed ${seed}\n`);
      const collector = new Collector(topic);
      if (when === 'while') await collector.start();
      const message = (step: number) => ({ value: String(step) });
      const committed = await writeInterleaved(topic, { message, steps: 60, random });
      await topic.send(0, ['the end']);
      if (when === 'before') await collector.start();
      await until(() => collector.values(0).at(-1) === 'the end', 'all records are delivered');
      expect(collector.values(0)).toEqual([...committed.map(String), 'the end']);
      expect(collector.state(0)).toMatchObject({ state: 'running', error: undefined });
      expect(collector.starts).toBe(1); // gaps in the offsets are no loss
    },
  );
});
