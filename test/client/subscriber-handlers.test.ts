import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UnreadableResultError, type RankChange, type RankChangeSubscriber } from '#client';
import { writeInterleaved } from '../kafka-batch/interleaved.js';
import type { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { groupOf, result, results, resultTopic, subscriberOf } from './results.js';

describe('a subscriber', () => {
  let topic: TestTopic;
  const started: RankChangeSubscriber[] = [];
  beforeEach(async () => {
    topic = await resultTopic(2);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((subscriber) => subscriber.stop()));
    await topic.remove();
  });

  const subscribe = async (
    handle: (change: RankChange) => Promise<void> | void,
    options: Parameters<typeof subscriberOf>[1] = {},
  ) => {
    const subscriber = subscriberOf(topic, options);
    started.push(subscriber);
    await subscriber.start(handle);
    return subscriber;
  };

  /** A promise to wait for, and what ends the wait. */
  function hold() {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    return { held, release };
  }

  it('goes on with a partition while the handler of another is busy', async () => {
    const { held, release } = hold();
    const seen: number[] = [];
    await subscribe(async ({ source }) => {
      if (source.offset === 0) await held;
      seen.push(source.offset);
    });
    await topic.send(0, [result(0)]);
    for (let sent = 1; sent <= 5; sent++) {
      await topic.send(1, [result(sent)]);
      await until(() => seen.at(-1) === sent, `result ${sent} is handled`);
    }
    release();
    await until(() => seen.at(-1) === 0, 'the busy one is done');
    expect(seen).toEqual([1, 2, 3, 4, 5, 0]);
  });

  it.each([
    ['TypeError', TypeError],
    ['SyntaxError', SyntaxError],
    ['RangeError', RangeError],
  ])(
    'tells of a %s in its handler, in place of silence, and gives the result again when it starts again',
    async (_, Bug) => {
      const seen: number[] = [];
      await topic.send(0, results(0, 3));
      const failing = await subscribe(({ source }) => {
        seen.push(source.offset);
        if (source.offset === 1) throw new Bug('a bug');
      });
      await expect(failing.failed).rejects.toBeInstanceOf(Bug);
      await failing.stop();
      await subscribe(({ source }) => void seen.push(source.offset));
      await until(() => seen.at(-1) === 2, 'the rest has come');
      expect(seen).toEqual([0, 1, 1, 2]);
    },
  );

  it.each([
    ['null', null],
    ['empty', ''],
    ['no JSON', '{"board":'],
    ['something else', '{"board":"arena"}'],
  ])('ends at a record that is no result, and says where it is: %s', async (_, value) => {
    await topic.send(1, [result(0), value, result(2)]);
    const seen: number[] = [];
    const subscriber = await subscribe(({ source }) => void seen.push(source.offset));
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

  it('ends, and names the codec, when results are compressed in a way that it can not read', async () => {
    const packed = await resultTopic(1, { 'compression.type': 'lz4' });
    await packed.send(0, [result(0)]);
    const subscriber = subscriberOf(packed);
    started.push(subscriber);
    await subscriber.start(() => undefined).catch(() => undefined); // may end before it has begun
    await expect(subscriber.failed).rejects.toThrow('compressed with lz4');
    await packed.remove();
  });

  it('gives the committed results of interleaved transactions, and no others', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const message = (count: number) => ({ value: result(count) });
    const committed = await writeInterleaved(topic, { message, steps: 40, random });
    await topic.send(0, [result(1_000)]);
    const seen: number[] = [];
    await subscribe(({ source }) => void seen.push(source.offset));
    await until(() => seen.at(-1) === 1_000, 'all are handled');
    expect(seen).toEqual([...committed, 1_000]);
  });

  it('lets the handler in hand finish when it stops, and commits how far it is', async () => {
    const { held, release } = hold();
    const seen: number[] = [];
    await topic.send(0, results(0, 3));
    const subscriber = await subscribe(async ({ source }) => {
      if (source.offset === 1) await held;
      seen.push(source.offset);
    });
    await until(() => seen.length === 1, 'one is handled and one in hand');
    const stopping = subscriber.stop();
    release();
    await stopping;
    expect(seen).toEqual([0, 1]);
    expect(await topic.committed(groupOf(topic))).toEqual([2, 0]);
  });

  it('commits what is handled while it runs, without waiting for the rest of a batch', async () => {
    const { held, release } = hold();
    await topic.send(0, results(0, 5));
    await subscribe(({ source }) => (source.offset === 3 ? held : undefined));
    await until(
      async () => (await topic.committed(groupOf(topic)))[0] === 3,
      'three are committed',
    );
    release();
    await until(async () => (await topic.committed(groupOf(topic)))[0] === 5, 'all are committed');
  });

  it('leaves out nothing while members of its group come and go', async () => {
    const seen = new Set<number>();
    const handle = ({ source }: RankChange) => void seen.add(source.offset);
    const first = await subscribe(handle);
    for (let round = 0; round < 4; round++) {
      await topic.send(round % 2, results(round * 200, round * 200 + 200));
      const other = await subscribe(handle);
      await topic.send(1 - (round % 2), results(1_000 + round * 200, 1_200 + round * 200));
      await other.stop();
    }
    await until(() => seen.size === 1_600, 'all are handled');
    await first.stop();
    expect(await topic.committed(groupOf(topic))).toEqual([800, 800]);
  });
});
