import { describe, expect, it } from '@jest/globals';
import { Partitioners } from 'kafkajs';
import { until } from '../support/instance.js';
import { event, useScoreTopic } from './score-topic.js';

const BUSY = 0;
const QUIET = [1, 2, 3];
const BACKLOG = 60_000;
const BATCH = 250;
const MIN_PROBES = 5;
/**
 * How many events of the busy partition may be published, in the median, between the moment when a
 * quiet event is sent and the one when its rank change is seen: a few transactions. An event that
 * waits for a whole fetch of the busy partition waits for 60,000.
 */
const MAX_BEFORE_A_PROBE = 10_000;

describe('a partition a thousand times busier than the others', () => {
  const made = useScoreTopic();

  it('lets only a few of its events be published before an event of another partition', async () => {
    const { instance, log } = made;
    const players = Array.from({ length: BATCH }, (_, n) => ({
      partition: BUSY,
      value: event(`b${n % 997}`),
    }));
    await log.sendMessages(...Array.from({ length: BACKLOG / BATCH }, () => players));
    const producer = instance.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    await instance.start();
    await until(async () => (await log.published(BUSY)) > 0, 'the busy partition is published');

    const waits: number[] = [];
    for (let before = 0; before < BACKLOG - BATCH; before = await log.published(BUSY)) {
      const partition = QUIET[waits.length % QUIET.length] ?? 1;
      const sent = await producer.send({
        topic: log.name,
        messages: [{ partition, value: event('probe') }],
      });
      await log.isPublished(partition, Number(sent[0]?.baseOffset) + 1);
      waits.push((await log.published(BUSY)) - before);
    }
    await producer.disconnect();
    process.stdout.write(`busy events published before each probe: ${waits.join(' ')}\n`);
    // Those of the last probes are fewer, as the busy partition ends.
    expect(waits.length).toBeGreaterThan(MIN_PROBES);
    expect(median(waits)).toBeLessThan(MAX_BEFORE_A_PROBE);
  });
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
