import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CompressionTypes, Partitioners, type Message } from 'kafkajs';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readDeadLetters, readRankChanges } from '../support/results.js';
import { configure } from '../support/topic-config.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const NOT_ENOUGH_REPLICAS = 19;
const EVENTS = 200;
const events = (count: number, partitions = [0]): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    partition: partitions[index % partitions.length] ?? 0,
    value: JSON.stringify({ board: 'arena', playerId: `player-${index % 7}`, delta: 1 }),
  }));

let instance: TestInstance;
afterEach(() => instance.remove());

async function send(messages: Message[], compression = CompressionTypes.None): Promise<void> {
  const producer = instance.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic: instance.topics.scoreEvents, messages, compression });
  await producer.disconnect();
}

/** So many events have a rank change, one each. */
async function expectRankChanges(count: number): Promise<void> {
  const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
  expect(causes).toHaveLength(count);
  expect(new Set(causes).size).toBe(count);
}

const says = (service: RanklogProcess, words: string) =>
  until(() => service.errors.includes(words), `the service says "${words}"`);

describe('a result topic that refuses records', () => {
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
  });

  it('because it was deleted is waited for; made anew by "ranklog topics", it gets what was not published', async () => {
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
    await says(service, 'run \\"ranklog topics\\"');
    await instance.run('topics');
    await instance.published(2 * EVENTS);
    const changes = await readRankChanges(instance.kafka, topics);
    const offsets = changes.map(({ source }) => source.offset);
    expect(offsets).toEqual(Array.from({ length: EVENTS }, (_, index) => EVENTS + index));
    expect(service.exitCode).toBeNull();
  });

  it('for their size stops the partition with the way out; repaired and started again, it has each once', async () => {
    const { topics } = instance;
    const service = await instance.start();
    await send(events(EVENTS));
    await instance.published(EVENTS);
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '150' });
    await send(events(EVENTS));
    await says(service, `${topics.scoreEvents}/0 stops: Kafka refuses a result for its size`);
    expect(service.errors).toContain(`${topics.rankChanges} takes 150 bytes`);
    expect(await instance.publishedCount()).toBe(EVENTS);
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    await configure(instance, topics.rankChanges, {});
    await instance.start();
    await instance.published(2 * EVENTS);
    await expectRankChanges(2 * EVENTS);
  });

  it('that are small gets them in smaller batches', async () => {
    const { topics } = instance;
    await configure(instance, topics.rankChanges, { 'max.message.bytes': '2000' });
    await configure(instance, topics.deadLetters, { 'max.message.bytes': '2000' });
    await send([...events(EVENTS), ...Array.from({ length: EVENTS }, () => ({ value: 'bad' }))]);
    await instance.start();
    await instance.published(2 * EVENTS);
    await expectRankChanges(EVENTS);
    const letters = await readDeadLetters(instance.kafka, topics);
    expect(letters.map(({ offset }) => offset - EVENTS)).toEqual([...Array(EVENTS).keys()]);
  });
});

describe('a partition of a result topic that refuses records for want of replicas', () => {
  let proxy: KafkaProxy;
  afterEach(() => proxy.close());

  it('is tried again until it takes them, each once; meanwhile the others go on', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    proxy = await KafkaProxy.toBroker();
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    const service = await instance.start();
    const publisher = `${instance.topics.scoreEvents}-0`;
    const refusal = proxy.onRequest(
      KAFKA_API.produce,
      { error: NOT_ENOUGH_REPLICAS, executed: false },
      { times: Infinity, when: ({ body }) => body.includes(publisher) },
    );
    await send(events(2 * EVENTS, [0, 1]));
    await until(() => refusal.hits > 8, 'it is tried again');
    await instance.published(EVENTS);
    expect(await instance.publishedCount()).toBe(EVENTS);
    proxy.clearFaults();
    await instance.published(2 * EVENTS);
    await expectRankChanges(2 * EVENTS);
    expect(service.exitCode).toBeNull();
  });
});

describe('a result topic with fewer partitions than the score topic', () => {
  it('makes those of the score topic wait, until "ranklog topics" adds some; the others go on', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    const { topics, admin } = instance;
    await admin.createPartitions({ topicPartitions: [{ topic: topics.scoreEvents, count: 3 }] });
    const service = await instance.start();
    await says(service, `so results of partition 2 have no place; run \\"ranklog topics\\"`);
    await send(events(EVENTS, [0, 1]));
    await instance.published(EVENTS);
    await send(events(EVENTS, [2]));
    await instance.run('topics');
    await instance.published(2 * EVENTS);
    await expectRankChanges(2 * EVENTS);
    expect(service.exitCode).toBeNull();
  });
});

describe('a record that is larger than the dead letter topic takes', () => {
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
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
  });

  it('is dead-lettered with size and digest: 5 MB in a small gzip batch', async () => {
    await send([...good, { key: 'k', value: large }, ...good], CompressionTypes.GZIP);
    await instance.start();
    await instance.published(3);
    expect(await lettersOf()).toEqual([{ offset: 1, leftOut: digest(large), value: null }]);
    await expectRankChanges(2);
  });

  it('is so, too, when the topic has come to take less while the service ran', async () => {
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
    await expectRankChanges(1);
    expect(service.errors).toContain('max.message.bytes of a result topic has changed');
  });
});
