import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { until, type RanklogProcess } from '../support/instance.js';
import { configure } from '../support/kafka-client.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { readDeadLetters, readRankChanges } from '../support/results.js';
import { event, expectRankChanges, useScoreTopic } from './score-topic.js';

const EVENTS = 200;
const events = (count: number, partitions = [0]): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    partition: partitions[index % partitions.length] ?? 0,
    value: event(`player-${index % 7}`),
  }));
const offsets = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);

const made = useScoreTopic({ partitions: 2 });
/** Sends messages to partition 0, unless they name another one. */
const send = (...messages: Message[]) =>
  made.log.sendMessages(messages.map((message) => ({ partition: 0, ...message })));
const logs = (service: RanklogProcess, text: string) =>
  until(() => service.errors.includes(text), `the service logs "${text}"`);

describe('a result topic that refuses records', () => {
  it('in large batches gets smaller ones; after it was deleted, it gets the rest when "ranklog topics" has created it again', async () => {
    const { instance } = made;
    const { topics, admin, kafka } = instance;
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '2000' });
    await configure(instance, topics.deadLetters, { 'max.message.bytes': '2000' });
    await send(...events(EVENTS), ...Array.from({ length: EVENTS }, () => ({ value: 'bad' })));
    const service = await instance.start();
    await instance.published(2 * EVENTS);
    await expectRankChanges(instance, EVENTS);
    const letters = await readDeadLetters(kafka, topics);
    expect(letters.map(({ offset }) => offset)).toEqual(offsets(EVENTS, 2 * EVENTS));

    await admin.deleteTopics({ topics: [topics.rankChanges] });
    await until(
      async () => !(await admin.listTopics()).includes(topics.rankChanges),
      'it is deleted',
    );
    await send(...events(EVENTS));
    await logs(service, 'run \\"ranklog topics\\"');
    await instance.run('topics');
    await instance.published(3 * EVENTS);
    const changes = await readRankChanges(kafka, topics);
    expect(changes.map(({ source }) => source.offset)).toEqual(offsets(2 * EVENTS, 3 * EVENTS));
    expect(service.exitCode).toBeNull();
  });

  it('for their size stops a partition, which logs what to do, and continues once that is done and ranklog is restarted', async () => {
    const { instance } = made;
    const { topics } = instance;
    const service = await instance.start();
    await send(...events(EVENTS));
    await instance.published(EVENTS);
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '150' });
    await send(...events(EVENTS));
    await logs(service, `${topics.scoreEvents}/0 stops: Kafka refuses a result for its size`);
    expect(service.errors).toContain(`${topics.rankChanges} takes 150 bytes`);
    expect(await instance.publishedCount()).toBe(EVENTS);
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    await configure(instance, topics.rankChanges, {});
    await instance.start();
    await instance.published(2 * EVENTS);
    await expectRankChanges(instance, 2 * EVENTS);
  });

  it('in one partition, without enough replicas, gets each record once after retries; other partitions continue', async () => {
    const { instance } = made;
    const proxy = await made.throughKafkaProxy();
    const service = await instance.start();
    const publisher = `${instance.topics.scoreEvents}-0`;
    const refusal = proxy.onRequest(
      KAFKA_API.produce,
      { error: KAFKA_ERROR.notEnoughReplicas, executed: false },
      { times: Infinity, when: ({ body }) => body.includes(publisher) },
    );
    await send(...events(2 * EVENTS, [0, 1]));
    await until(() => refusal.hits > 8, 'it is tried again');
    await instance.published(EVENTS);
    expect(await instance.publishedCount()).toBe(EVENTS);
    proxy.clearFaults();
    await instance.published(2 * EVENTS);
    await expectRankChanges(instance, 2 * EVENTS);
    expect(service.exitCode).toBeNull();
  });
});

describe('a record that is too large for the dead letter topic', () => {
  it('has a dead letter with its size and digest, also after the limit of the topic was lowered', async () => {
    const { instance } = made;
    const service = await instance.start();
    const [small, medium, large] = ['y'.repeat(500), 'z'.repeat(50_000), 'x'.repeat(5_000_000)];
    const digest = (text: string) => {
      const sha256 = createHash('sha256').update(text).digest('hex');
      return [{ part: 'value', bytes: text.length, sha256 }];
    };
    // In a small gzip batch
    await send({ key: 'k', value: large }, ...events(1), { value: medium });
    await instance.published(3);
    await configure(instance, instance.topics.deadLetters, { 'max.message.bytes': '10000' });
    await send({ value: small }, { value: medium }, ...events(1));
    await instance.published(6);
    const letters = await readDeadLetters(instance.kafka, instance.topics);
    expect(
      letters.map(({ offset, leftOut, record }) => [offset, leftOut, record.value?.toString()]),
    ).toEqual([
      [0, digest(large), undefined],
      [2, [], medium],
      [3, [], small],
      [4, digest(medium), undefined],
    ]);
    await expectRankChanges(instance, 2);
    expect(service.errors).toContain('max.message.bytes of a result topic has changed');
  });
});
