import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.js';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { writeInterleaved } from './interleaved.js';
import { TestTopic } from './topic.js';

describe('a partition that two transactional producers write', () => {
  let topic: TestTopic;
  let collector: Collector | undefined;
  beforeEach(async () => {
    topic = await TestTopic.create(1);
  });
  afterEach(async () => {
    await collector?.consumer.close();
    collector = undefined;
    await topic.remove();
  });

  it.each(['from the log', 'as they come'])(
    'gives the committed records and no others, %s',
    async (when) => {
      const { random, seed } = seededRandom();
      process.stdout.write(`seed ${seed}\n`);
      if (when === 'as they come') collector = await Collector.start(topic);
      const message = (count: number) => ({ value: String(count) });
      const committed = await writeInterleaved(topic, { message, steps: 60, random });
      await topic.send(0, ['the end']);
      collector ??= await Collector.start(topic);
      await until(() => collector?.values(0).at(-1) === 'the end', 'all is read');
      expect(collector.values(0)).toEqual([...committed.map(String), 'the end']);
      expect(collector.state(0)).toMatchObject({ state: 'running', error: undefined });
      expect(collector.starts).toBe(1); // gaps in the offsets are no loss
    },
  );
});
