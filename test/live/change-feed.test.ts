import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ChangeFeed } from '../../src/live/change-feed.js';
import { result } from '../client/rank-change-topic.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';

const RECORDS = 40;
const large = (number: number) => result(number) + ' '.repeat(100_000);
const closed = new AbortController();
let topic: TestTopic;

beforeAll(async () => {
  topic = await TestTopic.create(2);
  for (let number = 0; number < RECORDS; number++) await topic.send(0, [large(number)]);
});
afterAll(async () => {
  closed.abort(new Error('the test ends'));
  await topic.remove();
});

it('a feed of large rank changes holds the last 1 MiB of a partition, and goes on from there', async () => {
  const { kafka, name } = topic;
  const { signal } = closed;
  const feed = await ChangeFeed.open({ kafka, topic: name, signal, logger: SILENT });
  const offsets = () => feed.recent.ofPlayer('arena', 'ada').map(({ source }) => source.offset);
  const before = offsets();
  expect(before.length).toBeGreaterThan(1);
  expect(before.length).toBeLessThan(12);
  const last = Array.from({ length: before.length }, (_, n) => RECORDS - before.length + n);
  expect(before).toEqual(last);
  expect(feed.recent.reachBackTo([RECORDS - before.length, 0])).toBe(true);
  expect(feed.recent.reachBackTo([RECORDS - before.length - 1, 0])).toBe(false);
  await topic.send(1, [result(RECORDS + 1)]);
  await topic.send(0, [result(RECORDS)]);
  await until(() => offsets().length === before.length + 2, 'the feed has the next ones');
  expect(offsets()).toEqual([...before, RECORDS + 1, RECORDS]);
  expect(feed.id).toBe(`${(RECORDS + 1).toString(36)}.1`);
});
