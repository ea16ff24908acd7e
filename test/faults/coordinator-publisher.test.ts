import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import {
  committedOffset,
  ProducerFencedError,
  PublishOutcomeUnknownError,
  TransactionalPublisher,
} from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { readCommitted } from '../support/results.js';

const busy = { error: KAFKA_ERROR.concurrentTransactions, executed: false };

/** A publisher behind a proxy; what it publishes is `0`, `1`, `2` and so on. */
class Fixture {
  #next = 0;
  publisher: TransactionalPublisher | undefined;

  private constructor(
    readonly topic: TestTopic,
    readonly proxy: KafkaProxy,
    private readonly kafka: Kafka,
  ) {}

  static async create(): Promise<Fixture> {
    const topic = await TestTopic.create(1);
    const proxy = await KafkaProxy.toBroker();
    const retry = { initialRetryTime: 100, retries: 8, maxRetryTime: 5_000 }; // as ranklog has them
    return new Fixture(topic, proxy, testKafka({ brokers: [proxy.broker], retry }));
  }

  async open(): Promise<void> {
    await this.publisher?.close();
    const { kafka, topic } = this;
    this.publisher = await TransactionalPublisher.open({ kafka, transactionalId: topic.name });
  }

  /** Publishes the next value in a transaction of its own; resolves with the time that it took, in ms. */
  async publish(): Promise<number> {
    const started = performance.now();
    const { name } = this.topic;
    const value = String(this.#next);
    await this.publisher?.publish({
      records: [{ topic: name, partition: 0, messages: [{ value }] }],
      offset: { groupId: name, topic: name, partition: 0, offset: this.#next + 1 },
    });
    this.#next += 1;
    return performance.now() - started;
  }

  /** Opens another publisher, learns from the position what is published, and publishes what is not. */
  async recover(): Promise<void> {
    await this.open();
    const { admin, name } = this.topic;
    const position = () => committedOffset(admin, name, name, 0);
    const records = (await readCommitted(this.topic.kafka, name)).length;
    await until(async () => ((await position()) ?? 0) === records, 'position and records agree');
    this.#next = records;
    await this.publish();
  }

  /** What is committed is each value up to the last one, once and in order; the position is behind it. */
  async expectExactlyOnce(): Promise<void> {
    const { kafka, admin, name } = this.topic;
    const position = () => committedOffset(admin, name, name, 0);
    await until(async () => (await position()) === this.#next, 'the last position is seen');
    const values = (await readCommitted(kafka, name)).map(({ value }) => value?.toString());
    expect(values).toEqual(Array.from({ length: this.#next }, (_, index) => String(index)));
  }

  async remove(): Promise<void> {
    this.proxy.clearFaults();
    await this.publisher?.close();
    await this.proxy.close();
    await this.topic.remove();
  }
}

describe('a publisher, when', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
    await fixture.open();
    await fixture.publish();
  });
  afterEach(() => fixture.remove());

  it.each<[string, number, KafkaAction]>([
    ['AddPartitionsToTxn is answered CONCURRENT_TRANSACTIONS', KAFKA_API.addPartitionsToTxn, busy],
    ['AddOffsetsToTxn is answered CONCURRENT_TRANSACTIONS', KAFKA_API.addOffsetsToTxn, busy],
    [
      'AddPartitionsToTxn is answered NOT_COORDINATOR',
      KAFKA_API.addPartitionsToTxn,
      { error: KAFKA_ERROR.notCoordinator, executed: false },
    ],
    [
      'AddOffsetsToTxn is answered NOT_COORDINATOR',
      KAFKA_API.addOffsetsToTxn,
      { error: KAFKA_ERROR.notCoordinator, executed: false },
    ],
    [
      'AddOffsetsToTxn is executed and answered COORDINATOR_NOT_AVAILABLE',
      KAFKA_API.addOffsetsToTxn,
      { error: KAFKA_ERROR.coordinatorNotAvailable, executed: true },
    ],
    [
      'TxnOffsetCommit is answered NOT_COORDINATOR',
      KAFKA_API.txnOffsetCommit,
      { error: KAFKA_ERROR.notCoordinator, executed: false },
    ],
    [
      'TxnOffsetCommit is answered COORDINATOR_LOAD_IN_PROGRESS',
      KAFKA_API.txnOffsetCommit,
      { error: KAFKA_ERROR.coordinatorLoadInProgress, executed: false },
    ],
    [
      'FindCoordinator is answered NOT_COORDINATOR',
      KAFKA_API.findCoordinator,
      { error: KAFKA_ERROR.notCoordinator, executed: false },
    ],
    [
      'FindCoordinator is answered COORDINATOR_NOT_AVAILABLE',
      KAFKA_API.findCoordinator,
      { error: KAFKA_ERROR.coordinatorNotAvailable, executed: false },
    ],
    [
      'Produce is answered REQUEST_TIMED_OUT',
      KAFKA_API.produce,
      { error: KAFKA_ERROR.requestTimedOut, executed: false },
    ],
    [
      'Produce is executed and answered REQUEST_TIMED_OUT',
      KAFKA_API.produce,
      { error: KAFKA_ERROR.requestTimedOut, executed: true },
    ],
    [
      'Produce is executed and answered NOT_ENOUGH_REPLICAS',
      KAFKA_API.produce,
      { error: KAFKA_ERROR.notEnoughReplicas, executed: true },
    ],
    ['Produce is executed and its answer lost', KAFKA_API.produce, 'swallowReply'],
    ['the connection is lost before Produce', KAFKA_API.produce, 'cutBefore'],
  ])('%s, goes on without a word', async (_name, apiKey, action) => {
    const fault = fixture.proxy.onRequest(apiKey, action);
    await fixture.publish();
    expect(fault.hits).toBe(1);
    await fixture.publish();
    await fixture.expectExactlyOnce();
  });

  it.each<[string, KafkaAction]>([
    ['EndTxn is answered NOT_COORDINATOR', { error: KAFKA_ERROR.notCoordinator, executed: false }],
    [
      'EndTxn is executed and answered NOT_COORDINATOR',
      { error: KAFKA_ERROR.notCoordinator, executed: true },
    ],
    [
      'EndTxn is executed and answered REQUEST_TIMED_OUT',
      { error: KAFKA_ERROR.requestTimedOut, executed: true },
    ],
    [
      'EndTxn is answered COORDINATOR_NOT_AVAILABLE',
      { error: KAFKA_ERROR.coordinatorNotAvailable, executed: false },
    ],
    ['EndTxn is answered CONCURRENT_TRANSACTIONS', busy],
    ['EndTxn is executed and its answer lost', 'swallowReply'],
    ['the connection is lost before EndTxn', 'cutBefore'],
  ])('%s, does not know, and the next one does', async (_name, action) => {
    const fault = fixture.proxy.onRequest(KAFKA_API.endTxn, action);
    await expect(fixture.publish()).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
    expect(fault.hits).toBe(1);
    await fixture.recover();
    await fixture.publish();
    await fixture.expectExactlyOnce();
  });

  it.each([
    ['Produce', KAFKA_API.produce],
    ['AddPartitionsToTxn', KAFKA_API.addPartitionsToTxn],
    ['AddOffsetsToTxn', KAFKA_API.addOffsetsToTxn],
    ['TxnOffsetCommit', KAFKA_API.txnOffsetCommit],
    ['EndTxn', KAFKA_API.endTxn],
  ])(
    '%s says that it is fenced, takes it for that, and the next one goes on',
    async (_name, apiKey) => {
      fixture.proxy.onRequest(apiKey, { error: KAFKA_ERROR.invalidProducerEpoch, executed: false });
      await expect(fixture.publish()).rejects.toBeInstanceOf(ProducerFencedError);
      await fixture.recover();
      await fixture.expectExactlyOnce();
    },
  );
});

describe('a coordinator that is busy with the transaction before', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
    await fixture.open();
  });
  afterEach(() => fixture.remove());

  const TIMES = 40;
  const median = (times: readonly number[]) =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

  it('costs a publish a wait of 20 ms for each of its requests', async () => {
    await fixture.publish();
    const usual: number[] = [];
    const slow: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      usual.push(await fixture.publish());
      fixture.proxy.onRequest(KAFKA_API.addPartitionsToTxn, busy);
      fixture.proxy.onRequest(KAFKA_API.addOffsetsToTxn, busy);
      slow.push(await fixture.publish());
    }
    const figures = [usual, slow].flatMap((times) => [median(times), Math.max(...times)]);
    const text = figures.map((ms) => ms.toFixed(1)).join(', ');
    process.stdout.write(`publish p50, max; when busy twice p50, max: ${text} ms\n`);
    expect(median(slow)).toBeLessThan(3 * median(usual) + 4 * 20);
    await fixture.expectExactlyOnce();
  });

  it('is asked again after 20 ms when the next publisher takes over', async () => {
    const waits: number[] = [];
    for (let time = 0; time < 9; time++) {
      const asked: number[] = [];
      const when = ({ body }: KafkaRequest) => {
        if (!body.includes(fixture.topic.name)) return false;
        asked.push(performance.now());
        return asked.length === 1;
      };
      fixture.proxy.onRequest(KAFKA_API.initProducerId, busy, { when, times: 2 });
      await fixture.open();
      fixture.proxy.clearFaults();
      expect(asked).toHaveLength(2);
      waits.push((asked[1] ?? 0) - (asked[0] ?? 0));
    }
    process.stdout.write(`asked again after ${waits.map((ms) => ms.toFixed(1)).join(', ')} ms\n`);
    expect(Math.min(...waits)).toBeLessThan(200); // kafkajs would wait 240 ms at least
    await fixture.publish();
    await fixture.expectExactlyOnce();
  });
});
