import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { committedOffset, PublishOutcomeUnknownError, TransactionalPublisher } from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { readCommitted } from '../support/results.js';
import { transactionsEnded } from '../support/transactions.js';
import { TestTopic } from './topic.js';

/** Protocol number of the request that ends a transaction; it stands behind the four bytes of the length. */
const END_TXN = 26;
const isEndTxn = (request: Buffer) => request.readInt16BE(4) === END_TXN;

/** A client whose connection breaks at the first commit: before the request is sent, or when its answer arrives. */
function breakingAt(lost: 'request' | 'answer'): Kafka {
  const broken = () => new Error('the connection is broken by the test');
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
  const publishers: TransactionalPublisher[] = [];
  const open = async (kafka = topic.kafka) => {
    const publisher = await TransactionalPublisher.open({ kafka, transactionalId: topic.name });
    publishers.push(publisher);
    return publisher;
  };
  const publication = (value: string, offset: number) => ({
    records: [{ topic: topic.name, partition: 0, messages: [{ value }] }],
    offset: { groupId: topic.name, topic: topic.name, partition: 0, offset },
  });
  const committed = () => committedOffset(topic.admin, topic.name, topic.name, 0);
  const values = async () =>
    (await readCommitted(topic.kafka, topic.name)).map(({ value }) => value?.toString());

  beforeEach(async () => {
    topic = await TestTopic.create(1);
  });
  afterEach(async () => {
    await Promise.all(publishers.splice(0).map((publisher) => publisher.close()));
    await topic.remove();
  });

  it('was not made when Kafka did not get it: the next publisher finds the old position and publishes again', async () => {
    const unlucky = await open(breakingAt('request'));
    await expect(unlucky.publish(publication('a', 1))).rejects.toBeInstanceOf(
      PublishOutcomeUnknownError,
    );
    const next = await open();
    expect(await committed()).toBeUndefined();
    await next.publish(publication('a', 1));
    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['a']);
    expect(await committed()).toBe(1);
  });

  it('was made when only the answer is lost: the next publisher finds the new position', async () => {
    const unlucky = await open(breakingAt('answer'));
    await expect(unlucky.publish(publication('a', 1))).rejects.toBeInstanceOf(
      PublishOutcomeUnknownError,
    );
    const next = await open();
    await until(async () => (await committed()) === 1, 'the position is seen');
    await next.publish(publication('b', 2));
    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['a', 'b']);
    await expect(unlucky.publish(publication('b', 2))).rejects.toBeInstanceOf(
      PublishOutcomeUnknownError,
    );
  });
});
