import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

const FAULTS = 10;

/** By default kafkajs doubles its wait after each fault, even after progress: 20 s after the seventh, then 30. */
const MAX_WAIT_S = 15;

describe('transient faults of the group, with records read in between', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  beforeEach(async () => {
    topic = await TestTopic.create(1);
    proxy = await KafkaProxy.toBroker();
  });
  afterEach(async () => {
    await topic.remove();
    await proxy.close();
  });

  it('delay the records a short time each, also the last of many', async () => {
    const collector = await Collector.start(topic, {
      kafka: testKafka({ brokers: [proxy.broker] }),
    });
    for (let fault = 0; fault < FAULTS; fault++) {
      const error = { error: KAFKA_ERROR.requestTimedOut, executed: false };
      const heartbeat = proxy.onRequest(KAFKA_API.heartbeat, error);
      await until(() => heartbeat.isDone, 'a heartbeat has failed');
      await topic.send(0, [String(fault)]);
      await until(() => collector.count(0) === fault + 1, `record ${fault} is read`, MAX_WAIT_S);
    }
    expect(collector.values(0)).toEqual(numbers(0, FAULTS));
    expect(collector.fatal).toEqual([]);
  });
});
