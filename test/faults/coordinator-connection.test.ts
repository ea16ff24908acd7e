import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { patchKafkajs } from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';

describe('a connection of kafkajs', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  let admin: Admin;
  beforeEach(async () => {
    patchKafkajs();
    topic = await TestTopic.create(2);
    proxy = await KafkaProxy.toBroker();
    admin = testKafka({
      brokers: [proxy.broker],
      requestTimeout: 4_000,
    }).admin();
    await admin.connect();
  });
  afterEach(async () => {
    await admin.disconnect();
    await proxy.close();
    await topic.remove();
  });

  const partitions = async () => (await admin.fetchTopicOffsets(topic.name)).length;

  it.each([
    ['it was lost in the middle of a response', 'tearReply'],
    ['a response did not arrive', 'hangAfter'],
    ['a request did not arrive', 'hangBefore'],
  ] as const)('serves the next request after %s', async (_name, action) => {
    expect(await partitions()).toBe(2);
    const fault = proxy.onRequest(KAFKA_API.listOffsets, action);
    await expect(partitions()).rejects.toThrow();
    expect(fault.hits).toBe(1);
    expect([await partitions(), await partitions()]).toEqual([2, 2]);
  });

  it('looks for a coordinator again if the connection was lost', async () => {
    const groupId = topic.name;
    const asked = { groupId, topics: [topic.name] };
    await admin.fetchOffsets(asked);
    const fault = proxy.onRequest(KAFKA_API.findCoordinator, 'cutBefore', { times: 3 });
    const [found] = await admin.fetchOffsets(asked);
    expect(found?.partitions.map(({ offset }) => offset)).toEqual(['-1', '-1']);
    expect(fault.isDone).toBe(true);
  });
});
