import { afterEach, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const EVENTS = Array.from({ length: 20 }, (_, index) => ({
  board: 'arena',
  playerId: `player-${index}`,
  delta: 1,
}));

let instance: TestInstance;
let proxy: KafkaProxy;
afterEach(async () => {
  await instance.remove();
  await proxy.close();
});

it('a member that the group has forgotten joins it again, though the broker is lost at its first try', async () => {
  proxy = await KafkaProxy.toBroker();
  instance = await TestInstance.create(BOARDS);
  instance.env['KAFKA_BROKERS'] = proxy.broker;
  const service = await instance.start();
  const forgotten = { error: KAFKA_ERROR.unknownMemberId, executed: false };
  const faults = [
    proxy.onRequest(KAFKA_API.joinGroup, 'cutBefore'),
    proxy.onRequest(KAFKA_API.heartbeat, forgotten),
  ];
  await until(() => faults.every(({ isDone }) => isDone), 'the faults have come');
  const { kafka, name } = instance;
  const producer = new ScoreProducer({ kafka, topicPrefix: name });
  await producer.connect();
  await producer.send(EVENTS);
  await producer.disconnect();
  const joins = () => service.errors.split('assigned partitions').length - 1;
  await until(() => joins() > 1, 'it has joined again');
  await instance.published(EVENTS.length);
  expect(service.exitCode).toBeNull();
});
