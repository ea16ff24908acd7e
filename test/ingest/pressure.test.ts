import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { readDeadLetters, readRankChanges } from '../support/results.js';
import { configure } from '../support/kafka-client.js';
import { BOARDS, expectRankChanges, ScoreTopic } from './score-topic.js';

const EVENTS = 200;
const events = (count: number, partitions = [0]): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    partition: partitions[index % partitions.length] ?? 0,
    value: JSON.stringify({ board: 'arena', playerId: `player-${index % 7}`, delta: 1 }),
  }));

let instance: TestInstance;
const create = async (partitions: number) => {
  instance = await TestInstance.create(BOARDS, { partitions });
};
afterEach(() => instance.remove());
const send = (messages: Message[]) => new ScoreTopic(instance).sendMessages(messages);
const logs = (service: RanklogProcess, text: string) =>
  until(() => service.errors.includes(text), `the service logs "${text}"`);

describe('a result topic that refuses records', () => {
  beforeEach(() => create(1));

  it('because it was deleted: ingest waits, and publishes the rest after "ranklog topics" created it again', async () => {
    const { topics, admin } = instance;
    const service = await instance.start();
    await send(events(EVENTS));
    await instance.published(EVENTS);
    await admin.deleteTopics({ topics: [topics.rankChanges] });
    await until(
      async () => !(await admin.listTopics()).includes(topics.rankChanges),
      'it is deleted',
    );
    await send(events(EVENTS));
    await logs(service, 'run \\"ranklog topics\\"');
    await instance.run('topics');
    await instance.published(2 * EVENTS);
    const changes = await readRankChanges(instance.kafka, topics);
    const offsets = changes.map(({ source }) => source.offset);
    expect(offsets).toEqual(Array.from({ length: EVENTS }, (_, index) => EVENTS + index));
    expect(service.exitCode).toBeNull();
  });

  it('for their size: the partition stops and logs what to do, and continues after that and a restart', async () => {
    const { topics } = instance;
    const service = await instance.start();
    await send(events(EVENTS));
    await instance.published(EVENTS);
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '150' });
    await send(events(EVENTS));
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

  it('in large batches: ingest sends smaller ones', async () => {
    const { topics } = instance;
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '2000' });
    await configure(instance, topics.deadLetters, { 'max.message.bytes': '2000' });
    await send([...events(EVENTS), ...Array.from({ length: EVENTS }, () => ({ value: 'bad' }))]);
    await instance.start();
    await instance.published(2 * EVENTS);
    await expectRankChanges(instance, EVENTS);
    const letters = await readDeadLetters(instance.kafka, topics);
    expect(letters.map(({ offset }) => offset - EVENTS)).toEqual([...Array(EVENTS).keys()]);
  });
});

describe('a partition of a result topic without enough replicas', () => {
  let proxy: KafkaProxy;
  afterEach(() => proxy.close());

  it('gets each record once, after retries; meanwhile the other partitions continue', async () => {
    await create(2);
    proxy = await KafkaProxy.toBroker();
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    const service = await instance.start();
    const publisher = `${instance.topics.scoreEvents}-0`;
    const refusal = proxy.onRequest(
      KAFKA_API.produce,
      { error: KAFKA_ERROR.notEnoughReplicas, executed: false },
      { times: Infinity, when: ({ body }) => body.includes(publisher) },
    );
    await send(events(2 * EVENTS, [0, 1]));
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
  const large = 'x'.repeat(5_000_000);
  const good = events(1);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const lettersOf = async () =>
    (await readDeadLetters(instance.kafka, instance.topics)).map(({ offset, leftOut, record }) => ({
      offset,
      leftOut,
      value: record.value?.toString() ?? null,
    }));
  const digest = (text: string) => [{ part: 'value', bytes: text.length, sha256: sha256(text) }];
  beforeEach(() => create(1));

  it('has a dead letter with its size and digest: 5 MB in a small gzip batch', async () => {
    await send([...good, { key: 'k', value: large }, ...good]);
    await instance.start();
    await instance.published(3);
    expect(await lettersOf()).toEqual([{ offset: 1, leftOut: digest(large), value: null }]);
    await expectRankChanges(instance, 2);
  });

  it('has one also if the limit of the topic was lowered while the service ran', async () => {
    const service = await instance.start();
    const [small, medium] = ['y'.repeat(500), 'z'.repeat(50_000)];
    await send([{ value: medium }]);
    await instance.published(1);
    await configure(instance, instance.topics.deadLetters, { 'max.message.bytes': '10000' });
    await send([{ value: small }, { value: medium }, ...good]);
    await instance.published(4);
    expect(await lettersOf()).toEqual([
      { offset: 0, leftOut: [], value: medium },
      { offset: 1, leftOut: [], value: small },
      { offset: 2, leftOut: digest(medium), value: null },
    ]);
    await expectRankChanges(instance, 1);
    expect(service.errors).toContain('max.message.bytes of a result topic has changed');
  });
});
