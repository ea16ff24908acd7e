import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogReader, type LogReaderOptions } from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { loggerTo } from '../support/loggers.js';
import { timed } from '../support/eventually.js';
import { numbers, TestTopic } from './topic.js';

describe('a log reader over a connection that fails', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  const warnings: string[] = [];
  beforeEach(async () => {
    topic = await TestTopic.create(2);
    proxy = await KafkaProxy.toBroker();
    warnings.length = 0;
  });
  afterEach(async () => {
    await topic.remove();
    await proxy.close();
  });

  const open = async (
    options: Partial<LogReaderOptions> = {},
    requestTimeout = 1_000,
  ): Promise<LogReader> => {
    const reader = await LogReader.open({
      kafka: testKafka({ brokers: [proxy.broker], requestTimeout, retry: { retries: 0 } }),
      topic: topic.name,
      from: new Map([0, 1].map((partition) => [partition, 0])),
      logger: loggerTo((text) => warnings.push(text)),
      ...options,
    });
    topic.onRemove(() => reader.close());
    return reader;
  };
  /** Reads until it has at least `count` values of both partitions together. */
  const read = async (reader: LogReader, count: number): Promise<string[]> => {
    const values: string[] = [];
    await until(async () => {
      for (const { records } of await reader.fetch())
        values.push(...records.map(({ value }) => String(value)));
      return values.length >= count;
    }, `${count} records are read`);
    return values;
  };

  it.each<[string, KafkaAction]>([
    ['the connection is lost with the response', 'swallowReply'],
    ['the connection is lost in the middle of a response', 'tearReply'],
    ['the broker never answers', 'hangBefore'],
    [
      'the broker reports as missing an offset that is in the log',
      { error: KAFKA_ERROR.offsetOutOfRange, executed: false },
    ],
    [
      'the broker reports that it is not the leader any more',
      { error: KAFKA_ERROR.notLeaderOrFollower, executed: false },
    ],
  ])('continues without loss when %s', async (_, action) => {
    await topic.send(0, numbers(0, 10));
    const from = await open();
    const asked = proxy.onRequest(KAFKA_API.metadata, { delayMs: 0 }, { times: Infinity });
    const fault = proxy.onRequest(KAFKA_API.fetch, action);
    expect(await read(from, 10)).toEqual(numbers(0, 10));
    expect(fault.hits).toBe(1);
    expect(warnings).not.toEqual([]);
    expect(asked.hits).toBeGreaterThan(0); // the leader may have moved
    await topic.send(1, numbers(10, 20));
    expect(await read(from, 10)).toEqual(numbers(10, 20));
  });

  it.each([1, 10, 40])(
    'leaves no connection open when it is aborted %i ms after its start',
    async (ms) => {
      proxy.delay(5);
      const kafka = testKafka({
        brokers: [proxy.broker],
        retry: { initialRetryTime: 50, retries: 8 }, // kafkajs reconnects broken connections
      });
      const opening = open({ signal: AbortSignal.timeout(ms), kafka });
      await opening.then((reader) => reader.fetch()).catch(() => undefined);
      await opening.then((reader) => reader.close()).catch(() => undefined);
      let last = performance.now();
      await until(() => {
        if (proxy.connections > 0) last = performance.now();
        return performance.now() - last > 1_000;
      }, 'there was no connection for a second');
    },
  );

  it('opens after an outage; retries during an outage with growing pauses, and logs each attempt', async () => {
    await topic.send(0, ['a']);
    proxy.cut();
    const opened = open();
    await until(() => warnings.length >= 2, 'the second try has failed');
    proxy.restore();
    const reader = await opened;
    proxy.cut();
    warnings.length = 0;
    const batches = read(reader, 1);
    await until(() => warnings.length >= 1, 'the first try has failed');
    expect(warnings[0]).toContain(`reading ${topic.name} failed, retrying: `);
    const started = performance.now();
    await until(() => warnings.length >= 5, 'the fifth try has failed');
    // 100, 200, 400, 800 ms, or half of that
    expect(performance.now() - started).toBeGreaterThan(700);
    proxy.restore();
    expect(await batches).toEqual(['a']);
  });

  it.each(['none', 'outage', 'silence'] as const)(
    'ends a pending fetch promptly when the reader is aborted; fault: %s',
    async (fault) => {
      const abort = new AbortController();
      const reader = await open({ signal: abort.signal }, 60_000);
      if (fault === 'outage') proxy.cut();
      const action = fault === 'silence' ? 'hangBefore' : ({ delayMs: 0 } as const);
      const asked = proxy.onRequest(KAFKA_API.fetch, action);
      const reading = read(reader, 1).catch((error: unknown) => error);
      if (fault === 'outage') await until(() => warnings.length >= 4, 'it pauses long');
      else await until(() => asked.isDone, 'the fetch is sent');
      const reason = new Error('the test aborts');
      const ms = await timed(async () => {
        abort.abort(reason);
        expect(await reading).toBe(reason);
        await expect(reader.fetch()).rejects.toBe(reason);
        await reader.close();
      });
      expect(ms).toBeLessThan(30_000); // a request without an answer takes a minute
    },
  );

  it('stops opening when it is aborted', async () => {
    proxy.cut();
    const opening = open({ signal: AbortSignal.timeout(300) });
    await expect(opening).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a pending fetch when the reader is closed, and leaves no connection open', async () => {
    const reader = await open();
    const round = reader.fetch().catch((error: unknown) => error);
    await reader.close();
    expect(await round).toMatchObject({ message: 'the log reader was closed' });
    await until(() => proxy.connections === 0, 'no connection is left');
  });
});
