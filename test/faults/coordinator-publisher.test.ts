import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Admin, Kafka } from 'kafkajs';
import {
  patchKafkajs,
  ProducerFencedError,
  PublishOutcomeUnknownError,
  type TransactionalPublisher,
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

/**
 * A publisher behind a proxy; it publishes the values `0`, `1`, `2` and so on, one in each
 * transaction.
 */
class Fixture {
  #next = 0;
  #publisher: TransactionalPublisher | undefined;

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
    await this.#publisher?.close();
    this.#publisher = await this.topic.publisher(this.kafka);
  }

  /** Publishes the next value in a transaction. */
  async publish(): Promise<void> {
    await this.#publisher?.publish(this.topic.publication([String(this.#next)], this.#next + 1));
    this.#next += 1;
  }

  /** Opens another publisher, reads which values are committed, and publishes the next one. */
  async recover(): Promise<void> {
    await this.open();
    this.#next = (await this.#values()).length;
    await this.#positionSeen();
    await this.publish();
  }

  /**
   * Checks that each value is committed once and in order, and the position is after the last one.
   */
  async expectExactlyOnce(): Promise<void> {
    await this.#positionSeen();
    const expected = Array.from({ length: this.#next }, (_, index) => String(index));
    expect(await this.#values()).toEqual(expected);
  }

  async remove(): Promise<void> {
    this.proxy.clearFaults();
    await this.topic.remove();
    await this.proxy.close();
  }

  async #values() {
    const records = await readCommitted(this.topic.kafka, this.topic.name);
    return records.map(({ value }) => value?.toString());
  }

  async #positionSeen(): Promise<void> {
    const isSeen = async () => (await this.topic.committed())[0] === this.#next;
    await until(isSeen, 'the position is after the last value');
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
    refused('findCoordinator', 'notCoordinator'),
    refused('findCoordinator', 'coordinatorNotAvailable'),
    refused('initProducerId', 'coordinatorLoadInProgress'),
  ])('%s while it opens, retries', async (_name, api, action) => {
    const fault = fixture.proxy.onRequest(api, action);
    await fixture.open();
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
    '%s, reports that the outcome is unknown; the next publisher goes on after what was committed',
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

  it.each(['initProducerId', 'addPartitionsToTxn', 'addOffsetsToTxn'] as const)(
    'gets %s again in less than 200 ms',
    async (api) => {
      const waits: number[] = [];
      for (let time = 0; time < 9; time++) {
        const asked: number[] = [];
        const when = ({ body }: KafkaRequest) =>
          body.includes(fixture.topic.name) && asked.push(performance.now()) === 1;
        fixture.proxy.onRequest(KAFKA_API[api], busy, { when, times: 2 });
        await fixture.open();
        await fixture.publish();
        fixture.proxy.clearFaults();
        expect(asked.length).toBeGreaterThan(1); // more if the real coordinator was busy too
        waits.push((asked[1] ?? 0) - (asked[0] ?? 0));
      }
      process.stdout.write(`again after ${waits.map((ms) => ms.toFixed(1)).join(', ')} ms\n`);
      // A busy machine is slow at times; kafkajs would wait 240 ms at least
      expect(Math.min(...waits)).toBeLessThan(200);
      await fixture.expectExactlyOnce();
    },
  );
});

describe('a connection of kafkajs', () => {
  let fixture: Fixture;
  let admin: Admin;
  beforeEach(async () => {
    patchKafkajs();
    fixture = await Fixture.create();
    const brokers = [fixture.proxy.broker];
    admin = testKafka({ brokers, requestTimeout: 4_000 }).admin();
    await admin.connect();
  });
  afterEach(async () => {
    await admin.disconnect();
    await fixture.remove();
  });

  it.each([
    ['it was lost in the middle of a response', 'tearReply'],
    ['a response did not arrive', 'hangAfter'],
    ['a request did not arrive', 'hangBefore'],
  ] as const)('serves the next request after %s', async (_name, action) => {
    const { topic, proxy } = fixture;
    const partitions = async () => (await admin.fetchTopicOffsets(topic.name)).length;
    expect(await partitions()).toBe(1);
    const fault = proxy.onRequest(KAFKA_API.listOffsets, action);
    await expect(partitions()).rejects.toThrow();
    expect(fault.hits).toBe(1);
    expect([await partitions(), await partitions()]).toEqual([1, 1]);
  });

  it('looks for a coordinator again if the connection was lost', async () => {
    const { topic, proxy } = fixture;
    const asked = { groupId: topic.name, topics: [topic.name] };
    await admin.fetchOffsets(asked);
    const fault = proxy.onRequest(KAFKA_API.findCoordinator, 'cutBefore', { times: 3 });
    const [found] = await admin.fetchOffsets(asked);
    expect(found?.partitions.map(({ offset }) => offset)).toEqual(['-1']);
    expect(fault.isDone).toBe(true);
  });
});
