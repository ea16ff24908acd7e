import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IdentityCheck } from '#board-store';
import { testKafka } from '../support/kafka-client.js';
import { DefinitionsTopic } from '../../src/registry/definitions-topic.js';
import { arena } from '../board-store/fixture.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { SILENT } from '../support/loggers.js';

const silent = { log: SILENT, identity: new IdentityCheck({}) };
const record = {
  board: 'arena',
  generation: '7-0a1b2c3d4e5f',
  since: 7,
  definition: { ...arena, board: 'arena' },
};

describe('the definitions topic of a slow broker', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  beforeEach(async () => {
    topic = await TestTopic.create(1, { 'cleanup.policy': 'compact' });
    await new DefinitionsTopic(topic.kafka, topic.admin, topic.name, silent).write([record]);
    proxy = await KafkaProxy.toBroker();
  });
  afterEach(async () => {
    await proxy.close();
    await topic.remove();
  });

  const behindProxy = () =>
    new DefinitionsTopic(testKafka({ brokers: [proxy.broker] }), topic.admin, topic.name, silent);

  it('is read as a whole: what is not there yet is no end', async () => {
    proxy.onRequest(KAFKA_API.fetch, { delayMs: 3_000 });
    expect(await behindProxy().readAll()).toEqual(new Map([['arena', record]]));
  });

  it('is not taken for empty when no answer comes', async () => {
    proxy.onRequest(KAFKA_API.fetch, 'hangBefore', { times: Infinity });
    await expect(behindProxy().readAll()).rejects.toThrow(/timeout/);
  });
});
