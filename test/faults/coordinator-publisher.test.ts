import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import {
  committedOffsets,
  ProducerFencedError,
  PublishOutcomeUnknownError,
  TransactionalPublisher,
} from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { readCommitted } from '../support/results.js';
import { executed, lost, refused } from './request-faults.js';

const busy = { error: KAFKA_ERROR.concurrentTransactions, executed: false };

/** A publisher behind a proxy; it publishes `0`, `1`, `2` and so on. */
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
    const retry = { initialRetryTime: 100, retries: 8, maxRetryTime: 5_000 }; // as in ranklog
    return new Fixture(topic, proxy, testKafka({ brokers: [proxy.broker], retry }));
  }

  async open(): Promise<void> {
    await this.publisher?.close();
    const { kafka, topic } = this;
    this.publisher = await TransactionalPublisher.open(kafka, topic.name);
  }

  /** Publishes the next value in a transaction; returns how many ms that took. */
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

  /** Opens another publisher, finds out what is published, and publishes the next value. */
  async recover(): Promise<void> {
    await this.open();
    const { admin, name } = this.topic;
    const position = async () => (await committedOffsets(admin, name, name)).get(0);
    const records = (await readCommitted(this.topic.kafka, name)).length;
    await until(async () => ((await position()) ?? 0) === records, 'position and records agree');
    this.#next = records;
    await this.publish();
  }

  /** Checks that each value is committed once and in order, and the position is after the last one. */
  async expectExactlyOnce(): Promise<void> {
    const { kafka, admin, name } = this.topic;
    const position = async () => (await committedOffsets(admin, name, name)).get(0);
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

  it.each([
    refused('addPartitionsToTxn', 'concurrentTransactions'),
    refused('addOffsetsToTxn', 'concurrentTransactions'),
    refused('addPartitionsToTxn', 'notCoordinator'),
    refused('addOffsetsToTxn', 'notCoordinator'),
    executed('addOffsetsToTxn', 'coordinatorNotAvailable'),
    refused('txnOffsetCommit', 'notCoordinator'),
    refused('txnOffsetCommit', 'coordinatorLoadInProgress'),
    refused('findCoordinator', 'notCoordinator'),
    refused('findCoordinator', 'coordinatorNotAvailable'),
    refused('produce', 'requestTimedOut'),
    executed('produce', 'requestTimedOut'),
    executed('produce', 'notEnoughReplicas'),
    lost('produce', 'swallowReply'),
    lost('produce', 'cutBefore'),
  ])('%s, retries', async (_name, apiKey, action) => {
    const fault = fixture.proxy.onRequest(apiKey, action);
    await fixture.publish();
    expect(fault.hits).toBe(1);
    await fixture.publish();
    await fixture.expectExactlyOnce();
  });

  it.each([
    refused('endTxn', 'notCoordinator'),
    executed('endTxn', 'notCoordinator'),
    executed('endTxn', 'requestTimedOut'),
    refused('endTxn', 'coordinatorNotAvailable'),
    refused('endTxn', 'concurrentTransactions'),
    lost('endTxn', 'swallowReply'),
    lost('endTxn', 'cutBefore'),
  ])(
    '%s, reports an unknown outcome, which the next publisher finds out',
    async (_name, api, action) => {
      const fault = fixture.proxy.onRequest(api, action);
      await expect(fixture.publish()).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
      expect(fault.hits).toBe(1);
      await fixture.recover();
      await fixture.publish();
      await fixture.expectExactlyOnce();
    },
  );

  it.each([
    refused('produce', 'invalidProducerEpoch'),
    refused('addPartitionsToTxn', 'invalidProducerEpoch'),
    refused('addOffsetsToTxn', 'invalidProducerEpoch'),
    refused('txnOffsetCommit', 'invalidProducerEpoch'),
    refused('endTxn', 'invalidProducerEpoch'),
  ])(
    '%s, reports that it is fenced, and the next publisher goes on',
    async (_name, api, action) => {
      fixture.proxy.onRequest(api, action);
      await expect(fixture.publish()).rejects.toBeInstanceOf(ProducerFencedError);
      await fixture.recover();
      await fixture.expectExactlyOnce();
    },
  );
});

describe('a coordinator that is busy with the previous transaction', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
    await fixture.open();
  });
  afterEach(() => fixture.remove());

  const TIMES = 40;
  const median = (times: readonly number[]) =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

  it('delays each request of a publish by 20 ms', async () => {
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

  it('gets the request of the next publisher again after 20 ms', async () => {
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
