import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ChangeFeed } from '../../../src/query/live/change-feed.js';
import { result } from '../../client/rank-change-topic.js';
import { TestTopic } from '../../kafka-batch/topic.js';
import { until } from '../../support/instance.js';
import { SILENT } from '../../support/loggers.js';

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

it('a feed gives a rank change as one line, also one that another producer wrote with line breaks', async () => {
  const other = await TestTopic.create(1);
  const { kafka, name } = other;
  const end = new AbortController();
  try {
    await other.send(0, [JSON.stringify(JSON.parse(result(0)), null, 2).replaceAll('\n', '\r\n')]);
    const feed = await ChangeFeed.open({ kafka, topic: name, signal: end.signal, logger: SILENT });
    const events: string[] = [];
    feed.of('arena').subscribe(([, event]) => events.push(event.toString()));
    await other.send(0, [JSON.stringify(JSON.parse(result(1)), null, 2)]);
    await until(() => events.length > 0, 'the feed has the second one');
    const [id, type, data = '', ...rest] = events[0]!.split('\n');
    expect([id, type, rest]).toEqual(['id: 2', 'event: rank-change', ['', '']]);
    expect(JSON.parse(data.slice('data: '.length))).toEqual(JSON.parse(result(1)));
    expect(feed.recent.ofPlayer('arena', 'ada')).toHaveLength(2);
    const [, first = ''] = feed.recent.since([0], 'arena') ?? [];
    expect(first.toString().split(/[\r\n]/)).toEqual([type, expect.any(String), '', '']);
  } finally {
    end.abort(new Error('the test ends'));
    await other.remove();
  }
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
