import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UnreadableResultError, type RankChange } from '#client';
import { writeInterleaved } from '../kafka-batch/interleaved.js';
import type { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { groupOf, result, results, resultTopic, subscribe } from './results.js';

describe('a subscriber', () => {
  let topic: TestTopic;
  let seen: number[];
  const record = ({ source }: RankChange) => void seen.push(source.offset);
  beforeEach(async () => {
    topic = await resultTopic(2);
    seen = [];
  });
  afterEach(() => topic.remove());

  /** A promise, and the function that resolves it. */
  function hold() {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    return { held, release };
  }

  it('continues a partition while the handler of another one is busy', async () => {
    const { held, release } = hold();
    await subscribe(topic, async (change) => {
      if (change.source.offset === 0) await held;
      record(change);
    });
    await topic.send(0, [result(0)]);
    for (let sent = 1; sent <= 5; sent++) {
      await topic.send(1, [result(sent)]);
      await until(() => seen.at(-1) === sent, `result ${sent} is handled`);
    }
    release();
    await until(() => seen.at(-1) === 0, 'the busy handler is done');
    expect(seen).toEqual([1, 2, 3, 4, 5, 0]);
  });

  it.each([TypeError, SyntaxError])(
    'ends with a %p of its handler, and gets the result again after a restart',
    async (Bug) => {
      await topic.send(0, results(0, 3));
      const failing = await subscribe(topic, (change) => {
        record(change);
        if (change.source.offset === 1) throw new Bug('a bug');
      });
      await expect(failing.failed).rejects.toBeInstanceOf(Bug);
      await failing.stop();
      await subscribe(topic, record);
      await until(() => seen.at(-1) === 2, 'the rest is handled');
      expect(seen).toEqual([0, 1, 1, 2]);
    },
  );

  it.each([
    ['null', null],
    ['not JSON', '{"board":'],
    ['another object', '{"board":"arena"}'],
  ])('ends at a record that is not a result (%s), and reports its offset', async (_, value) => {
    await topic.send(1, [result(0), value, result(2)]);
    const subscriber = await subscribe(topic, record);
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: UnreadableResultError,
      topic: topic.name,
      partition: 1,
      offset: 1,
    });
    await subscriber.stop();
    expect(seen).toEqual([0]);
    expect(await topic.committed(groupOf(topic))).toEqual([0, 1]);
  });

  it('ends, and names the codec, when it cannot decompress results', async () => {
    const packed = await resultTopic(1, { 'compression.type': 'lz4' });
    topic.onRemove(() => packed.remove());
    await packed.send(0, [result(0)]);
    const subscriber = await subscribe(packed, record);
    await expect(subscriber.failed).rejects.toThrow('compressed with lz4');
  });

  it('delivers only the committed results of interleaved transactions', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const message = (step: number) => ({ value: result(step) });
    const committed = await writeInterleaved(topic, { message, steps: 40, random });
    await topic.send(0, [result(1_000)]);
    await subscribe(topic, record);
    await until(() => seen.at(-1) === 1_000, 'all results are handled');
    expect(seen).toEqual([...committed, 1_000]);
  });

  it('waits for the running handler when it stops, and commits its offset', async () => {
    const { held, release } = hold();
    await topic.send(0, results(0, 3));
    const subscriber = await subscribe(topic, async (change) => {
      if (change.source.offset === 1) await held;
      record(change);
    });
    await until(() => seen.length === 1, 'the second handler runs');
    const stopping = subscriber.stop();
    release();
    await stopping;
    expect(seen).toEqual([0, 1]);
    expect(await topic.committed(groupOf(topic))).toEqual([2, 0]);
  });

  it('commits offsets while it runs, also in the middle of a batch', async () => {
    const { held, release } = hold();
    const committed = async () => (await topic.committed(groupOf(topic)))[0];
    await topic.send(0, results(0, 5));
    await subscribe(topic, ({ source }) => (source.offset === 3 ? held : undefined));
    await until(async () => (await committed()) === 3, 'three are committed');
    release();
    await until(async () => (await committed()) === 5, 'all are committed');
  });

  it('loses nothing while members of its group come and go', async () => {
    const first = await subscribe(topic, record);
    const count = () => new Set(seen).size;
    for (let round = 0; round < 4; round++) {
      await topic.send(round % 2, results(round * 200, round * 200 + 200));
      const other = await subscribe(topic, record);
      await topic.send(1 - (round % 2), results(1_000 + round * 200, 1_200 + round * 200));
      await other.stop();
    }
    await until(() => count() === 1_600, 'all results are handled');
    await first.stop();
    expect(await topic.committed(groupOf(topic))).toEqual([800, 800]);
  });
});
