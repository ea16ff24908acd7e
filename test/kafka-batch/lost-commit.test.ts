import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { PublishOutcomeUnknownError } from '#kafka-batch';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { readCommitted } from '../support/results.js';
import { TestTopic } from './topic.js';

const isEndTxn = (request: Buffer) => request.readInt16BE(4) === KAFKA_API.endTxn;

/** A client whose connection breaks at each commit: before the request is sent, or when the response arrives. */
function breakingAt(lost: 'request' | 'response'): Kafka {
  const broken = () => new Error('the test breaks the connection');
  const breakOnCommit = (socket: Socket) => {
    const write: (request: Buffer) => boolean = socket.write.bind(socket);
    socket.write = (request: Buffer) => {
      if (!isEndTxn(request)) return write(request);
      if (lost === 'request') {
        socket.destroy(broken());
        return false;
      }
      socket.removeAllListeners('data');
      socket.once('data', () => socket.destroy(broken()));
      return write(request);
    };
    return socket;
  };
  return testKafka({
    brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
    socketFactory: ({ host, port, onConnect }) => breakOnCommit(connect({ host, port }, onConnect)),
  });
}

describe('a commit on a connection that breaks', () => {
  let topic: TestTopic;
  const committed = async () => (await topic.committed())[0];
  const values = async () =>
    (await readCommitted(topic.kafka, topic.name)).map(({ value }) => value?.toString());

  beforeEach(async () => {
    topic = await TestTopic.create(1);
  });
  afterEach(() => topic.remove());

  it('did not happen if Kafka did not get the request: the next publisher finds the old offset', async () => {
    const broken = await topic.publisher(breakingAt('request'));
    const publishing = broken.publish(topic.publication(['a'], 1));
    await expect(publishing).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
    const next = await topic.publisher();
    expect(await committed()).toBe(-1);
    await next.publish(topic.publication(['a'], 1));
    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['a']);
    expect(await committed()).toBe(1);
  });

  it('happened if only the response is lost: the next publisher finds the new offset', async () => {
    const broken = await topic.publisher(breakingAt('response'));
    const publishing = broken.publish(topic.publication(['a'], 1));
    await expect(publishing).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
    const next = await topic.publisher();
    await until(async () => (await committed()) === 1, 'the offset is committed');
    await next.publish(topic.publication(['b'], 2));
    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['a', 'b']);
    const again = broken.publish(topic.publication(['b'], 2));
    await expect(again).rejects.toBeInstanceOf(PublishOutcomeUnknownError);
  });
});
