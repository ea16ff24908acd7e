import { afterEach, describe, expect, it } from '@jest/globals';
import { Partitioners, type Consumer, type Message, type Producer } from 'kafkajs';
import { TestInstance, until } from '../support/instance.js';
import { BOARDS, event, ScoreTopic } from './score-topic.js';

const BUSY = 0;
const QUIET = [1, 2, 3];
const BACKLOG = 60_000;
const BATCH = 2_000;
const QUIET_PROBES = 25;
const MIN_BUSY_PROBES = 5;
/**
 * While the busy partition uses both cores, each step of a quiet record waits for a core: such records took 8 to 16 times as
 * long as in quiet. A record that waits for a whole fetch of the busy partition takes 150 times as long.
 */
const MAX_SLOWDOWN = 40;

describe('a partition a thousand times busier than the others', () => {
  let instance: TestInstance;
  let producer: Producer;
  let consumer: Consumer | undefined;
  afterEach(async () => {
    await producer.disconnect();
    await consumer?.disconnect();
    await instance.remove();
  });

  const send = (messages: Message[]) =>
    producer.send({ topic: instance.topics.scoreEvents, messages });

  it('delays rank changes of the others only within a limit, compared with a quiet time of the same test', async () => {
    instance = await TestInstance.create(BOARDS);
    producer = instance.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const log = new ScoreTopic(instance);
    const seen = await watchQuiet();
    const isQuiet = (probes: number) => Promise.resolve(probes < QUIET_PROBES);
    const first = await instance.start();
    const earlier = await latencies(seen, isQuiet);
    first.kill('SIGTERM');
    await first.ended;
    for (let from = 0; from < BACKLOG; from += BATCH)
      await send(
        Array.from({ length: BATCH }, (_, n) => ({ partition: BUSY, value: event(`b${n % 997}`) })),
      );
    await instance.start();
    const busy = await latencies(seen, async () => (await log.published(BUSY)) < BACKLOG - BATCH);
    await instance.published(BACKLOG + earlier.length + busy.length);
    const later = await latencies(seen, isQuiet);
    const [during, quiet] = [median(busy), Math.max(median(earlier), median(later))];
    process.stdout.write(
      `median ${quiet.toFixed(0)} ms in quiet, ${during.toFixed(0)} ms beside the busy partition (${busy.length} probes)\n`,
    );
    expect(busy.length).toBeGreaterThan(MIN_BUSY_PROBES);
    expect(during / quiet).toBeLessThan(MAX_SLOWDOWN);
  }, 300_000);

  /** Notes the time at which the rank change of each player of a quiet partition becomes visible. */
  async function watchQuiet(): Promise<Map<string, number>> {
    const seen = new Map<string, number>();
    const { kafka, topics, name } = instance;
    consumer = kafka.consumer({ groupId: `${name}-watch`, maxWaitTimeInMs: 50 });
    await consumer.connect();
    await consumer.subscribe({ topics: [topics.rankChanges], fromBeginning: true });
    let joined = false;
    consumer.on(consumer.events.GROUP_JOIN, () => {
      consumer?.pause([{ topic: topics.rankChanges, partitions: [BUSY] }]);
      joined = true;
    });
    await consumer.run({
      eachMessage: ({ message: { key } }) => {
        seen.set(key?.toString() ?? '', performance.now());
        return Promise.resolve();
      },
    });
    await until(() => joined, 'the watcher has joined');
    return seen;
  }

  /** While `more`, sends one event to the next quiet partition. Returns the ms until each rank change was visible. */
  async function latencies(
    seen: ReadonlyMap<string, number>,
    more: (probes: number) => Promise<boolean>,
  ): Promise<number[]> {
    const found: number[] = [];
    while (await more(found.length)) {
      const playerId = `probe-${seen.size}`;
      const partition = QUIET[found.length % QUIET.length] ?? 1;
      const begin = performance.now();
      await send([{ partition, value: event(playerId) }]);
      await until(() => seen.has(playerId), `the rank change of ${playerId} is visible`);
      found.push((seen.get(playerId) ?? Infinity) - begin);
    }
    return found;
  }
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
