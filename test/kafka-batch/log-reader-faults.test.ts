import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogReader, type LogReaderOptions } from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { loggerTo } from '../support/loggers.js';
import { numbers, TestTopic } from './topic.js';

describe('a log reader over a connection that fails', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  let reader: LogReader | undefined;
  const warnings: string[] = [];
  beforeEach(async () => {
    topic = await TestTopic.create(2);
    proxy = await KafkaProxy.toBroker();
    warnings.length = 0;
  });
  afterEach(async () => {
    await reader?.close();
    await proxy.close();
    await topic.remove();
  });

  const open = async (
    options: Partial<LogReaderOptions> = {},
    requestTimeout = 1_000,
  ): Promise<LogReader> => {
    reader = await LogReader.open({
      kafka: testKafka({
        brokers: [proxy.broker],
        requestTimeout,
        retry: { retries: 0 },
      }),
      topic: topic.name,
      from: new Map([
        [0, 0],
        [1, 0],
      ]),
      logger: loggerTo((text) => warnings.push(text)),
      ...options,
    });
    return reader;
  };
  /** The values of both partitions, once there are so many. */
  const read = async (from: LogReader, count: number): Promise<string[]> => {
    const values: string[] = [];
    await until(async () => {
      for (const { records } of await from.fetch())
        values.push(...records.map(({ value }) => String(value)));
      return values.length >= count;
    }, `${count} records are read`);
    return values;
  };
  const fetchForEver = async (from: LogReader): Promise<never> => {
    for (;;) await from.fetch();
  };
  const timed = async (work: Promise<unknown>): Promise<[unknown, number]> => {
    const started = performance.now();
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return [error, performance.now() - started];
  };

  it.each<[string, KafkaAction]>([
    ['is lost with the answer', 'swallowReply'],
    ['is lost in the middle of an answer', 'tearReply'],
    ['never answers', 'hangBefore'],
    [
      'says that an offset is missing which is there',
      { error: KAFKA_ERROR.offsetOutOfRange, executed: false },
    ],
  ])('goes on and loses nothing when it %s', async (_, action) => {
    await topic.send(0, numbers(0, 10));
    const from = await open();
    const fault = proxy.onRequest(KAFKA_API.fetch, action);
    expect(await read(from, 10)).toEqual(numbers(0, 10));
    expect(fault.hits).toBe(1);
    expect(warnings).not.toEqual([]);
    await topic.send(1, numbers(10, 20));
    expect(await read(from, 10)).toEqual(numbers(10, 20));
  });

  it.each([1, 10, 40])(
    'leaves no connection behind when it is given up %i ms after it began to connect',
    async (ms) => {
      proxy.delay(5);
      const signal = AbortSignal.timeout(ms);
      const kafka = testKafka({
        brokers: [proxy.broker],
        retry: { initialRetryTime: 50, retries: 8 }, // what was torn is connected anew
      });
      const opening = open({ signal, kafka }).then((opened) => opened.fetch());
      await opening.catch(() => undefined);
      await reader?.close();
      let last = performance.now();
      await until(() => {
        if (proxy.connections > 0) last = performance.now();
        return performance.now() - last > 1_000;
      }, 'no connection has been there for a second');
    },
  );

  it('asks who leads when it is told that a broker leads no longer', async () => {
    await topic.send(0, numbers(0, 10));
    const from = await open();
    const asked = proxy.onRequest(KAFKA_API.metadata, { delayMs: 0 }, { times: Infinity });
    const error = { error: KAFKA_ERROR.notLeaderOrFollower, executed: false };
    proxy.onRequest(KAFKA_API.fetch, error);
    expect(await read(from, 10)).toEqual(numbers(0, 10));
    expect(asked.hits).toBeGreaterThan(0);
  });

  it('waits longer and longer while there is no broker, says so, and goes on when it is back', async () => {
    await topic.send(0, ['a']);
    const from = await open();
    proxy.cut();
    const batches = read(from, 1);
    await until(() => warnings.length >= 1, 'it has tried once');
    expect(warnings[0]).toContain(`reading ${topic.name} is tried again: `);
    const started = performance.now();
    await until(() => warnings.length >= 5, 'it has tried five times');
    expect(performance.now() - started).toBeGreaterThan(700); // 100, 200, 400, 800 ms, or half of that
    proxy.restore();
    expect(await batches).toEqual(['a']);
  });

  it('opens once there is a broker', async () => {
    await topic.send(0, ['a']);
    proxy.cut();
    const opened = open();
    await until(() => warnings.length >= 2, 'it has tried twice');
    proxy.restore();
    expect(await read(await opened, 1)).toEqual(['a']);
  });

  it('ends at once when it is aborted: in a round that waits, before a retry, on a silent connection, and on opening', async () => {
    const reason = new Error('enough');
    for (const fault of ['none', 'cut', 'silence'] as const) {
      const abort = new AbortController();
      const from = await open({ signal: abort.signal }, 10_000);
      if (fault === 'cut') proxy.cut();
      const action = fault === 'silence' ? 'hangBefore' : ({ delayMs: 0 } as const);
      const asked = proxy.onRequest(KAFKA_API.fetch, action);
      const round = timed(fetchForEver(from));
      if (fault === 'cut') await until(() => warnings.length >= 4, 'it waits long');
      else await until(() => asked.isDone, 'the broker is asked');
      const aborted = performance.now();
      abort.abort(reason);
      const [error] = await round;
      expect(performance.now() - aborted).toBeLessThan(9_000); // a silent request lasts 10 s
      expect(error).toBe(reason);
      await expect(from.fetch()).rejects.toBe(reason);
      const [, closing] = await timed(from.close());
      expect(closing).toBeLessThan(9_000);
      proxy.clearFaults();
      proxy.restore();
    }
    proxy.cut();
    const [error] = await timed(open({ signal: AbortSignal.timeout(300) }));
    expect(error).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a round that waits when it is closed, and has no connection left', async () => {
    const from = await open();
    const round = timed(from.fetch());
    await from.close();
    const [error] = await round;
    expect(error).toMatchObject({ message: 'the log reader was closed' });
    await until(() => proxy.connections === 0, 'no connection is left');
  });
});
