import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka, Producer } from 'kafkajs';
import { TransactionalPublisher } from '#kafka-batch';
import { testKafka } from './kafka-client.js';
import { timed } from './timed.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from './instance.js';
import { KAFKA_ERROR } from './kafka-error-answers.js';
import { FrameReader, int32, KAFKA_API, type KafkaRequest } from './kafka-frames.js';
import { KafkaProxy, type KafkaAction } from './kafka-proxy.js';
import { readCommitted } from './results.js';

/** After which a client gives up a request that is never answered. */
const HANG_MS = 3_000;
const DELAY_MS = 3_000;

describe('a reader of frames', () => {
  const frames = ['', 'a', 'bcd', 'x'.repeat(1_000)].map((body) =>
    Buffer.concat([int32(body.length), Buffer.from(body)]),
  );

  it.each([1, 2, 3, 5, 100, 10_000])('finds them in chunks of %d bytes', (size) => {
    const bytes = Buffer.concat(frames);
    const reader = new FrameReader();
    const found: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...reader.push(bytes.subarray(at, at + size)));
    expect(found).toEqual(frames);
  });
});

describe('a Kafka proxy', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  let kafka: Kafka;
  const producers: Producer[] = [];
  const client = (requestTimeout: number) =>
    testKafka({
      brokers: [proxy.broker],
      requestTimeout,
      retry: { retries: 0 },
    });
  const connect = async (from: Kafka): Promise<Producer> => {
    const producer = from.producer({ allowAutoTopicCreation: false });
    producers.push(producer);
    await producer.connect();
    return producer;
  };
  let producer: Producer;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
    proxy = await KafkaProxy.toBroker();
    kafka = client(20_000);
    producer = await connect(kafka);
  });
  afterEach(async () => {
    await Promise.all(producers.splice(0).map((one) => one.disconnect()));
    await proxy.close();
    await topic.remove();
  });

  const send = (value: string, partition = 0, from = producer) =>
    from.send({ topic: topic.name, messages: [{ value, partition }] });
  const values = async () =>
    (await readCommitted(topic.kafka, topic.name)).map(({ value }) => value?.toString()).sort();

  it('keeps clients on it: whoever can reach nothing else still writes and reads', async () => {
    await send('a');
    expect(await readCommitted(kafka, topic.name)).toHaveLength(1);
    const before = proxy.connections;
    expect(before).toBeGreaterThan(0);
    proxy.cut();
    await expect(send('b')).rejects.toThrow();
    proxy.restore();
    expect(await values()).toEqual(['a']);
  });

  it.each<[string, KafkaAction, readonly string[]]>([
    ['executes a request and loses the answer', 'swallowReply', ['a', 'b']],
    ['executes a request and tears the answer', 'tearReply', ['a', 'b']],
    ['executes a request and never answers', 'hangAfter', ['a', 'b']],
    ['loses the connection before a request', 'cutBefore', ['b']],
    ['never passes a request on', 'hangBefore', ['b']],
    [
      'executes a request and says that it failed',
      { error: KAFKA_ERROR.requestTimedOut, executed: true },
      ['a', 'b'],
    ],
    ['says that a request failed', { error: KAFKA_ERROR.requestTimedOut, executed: false }, ['b']],
  ])('%s', async (_name, action, written) => {
    const hangs = action === 'hangBefore' || action === 'hangAfter';
    const sender = hangs ? await connect(client(HANG_MS)) : producer;
    const fault = proxy.onRequest(KAFKA_API.produce, action);
    await expect(send('a', 0, sender)).rejects.toThrow();
    expect(fault.isDone).toBe(true);
    proxy.breakAll();
    await until(
      () =>
        send('b').then(
          () => true,
          () => false,
        ),
      'another request is answered',
    );
    expect(await values()).toEqual(written);
  });

  it('delays the requests that are asked for, and no others', async () => {
    const ofPartition = (partition: number) => (request: KafkaRequest) =>
      request.body.includes(Buffer.concat([Buffer.from(topic.name), int32(1), int32(partition)]));
    const fault = proxy.onRequest(
      KAFKA_API.produce,
      { delayMs: DELAY_MS },
      { times: Infinity, when: ofPartition(1) },
    );
    const sending = (partition: number) => timed(() => send('a', partition));
    /** A busy machine delays one request or another. */
    const shortest = async (partition: number) =>
      Math.min(await sending(partition), await sending(partition), await sending(partition));
    await send('a');
    expect(await sending(1)).toBeGreaterThan(DELAY_MS - 10);
    expect(await shortest(0)).toBeLessThan(DELAY_MS - 500);
    expect(fault.hits).toBe(1);
    proxy.clearFaults();
    expect(await shortest(1)).toBeLessThan(DELAY_MS - 500);
  });

  it.each([
    ['initProducerId', KAFKA_API.initProducerId],
    ['addPartitionsToTxn', KAFKA_API.addPartitionsToTxn],
    ['addOffsetsToTxn', KAFKA_API.addOffsetsToTxn],
    ['txnOffsetCommit', KAFKA_API.txnOffsetCommit],
    ['endTxn', KAFKA_API.endTxn],
  ])('answers %s with an error that kafkajs understands', async (_name, apiKey) => {
    const fault = proxy.onRequest(apiKey, {
      error: KAFKA_ERROR.invalidTxnState,
      executed: false,
    });
    const publish = async () => {
      const publisher = await TransactionalPublisher.open({ kafka, transactionalId: topic.name });
      await publisher
        .publish({
          records: [{ topic: topic.name, partition: 0, messages: [{ value: 'a' }] }],
          offset: { groupId: topic.name, topic: topic.name, partition: 0, offset: 1 },
        })
        .finally(() => publisher.close());
    };
    await expect(publish()).rejects.toThrow(/invalid state|has taken over/);
    expect(fault.hits).toBe(1);
    await publish();
    await until(async () => (await values()).length > 0, 'the commit is visible');
    expect(await values()).toEqual(['a']);
  });
});
