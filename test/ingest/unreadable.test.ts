import { expect, it } from '@jest/globals';
import { CompressionTypes, Partitioners } from 'kafkajs';
import { MAX_DECOMPRESSED_BYTES, passOver, UnreadableBatchError } from '#kafka-batch';
import type { KafkaConnection } from '../../src/infra/kafka.js';
import { ScoreLog } from '../../src/ingest/score-log.js';
import { until } from '../support/instance.js';
import { configure } from '../support/kafka-client.js';
import { expectRankChanges, scores, useScoreTopic } from './score-topic.js';

const made = useScoreTopic({ partitions: 2 });

/** Sends a batch that is larger, when decompressed, than any reader accepts. */
async function sendTooLarge(
  partition: number,
  topic = made.instance.topics.scoreEvents,
): Promise<void> {
  const { kafka } = made.instance;
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const messages = [{ partition, key: 'p', value: Buffer.alloc(MAX_DECOMPRESSED_BYTES + 1) }];
  await producer.send({
    topic,
    messages,
    compression: CompressionTypes.GZIP,
  });
  await producer.disconnect();
}

it('a batch that cannot be read stops its partition alone, and status, doctor and verify say so', async () => {
  const { instance, log } = made;
  await log.send(0, ['a', 'b']);
  await sendTooLarge(0);
  await log.send(0, ['never']);
  const service = await instance.start();
  await until(() => service.errors.includes(`${log.name}/0 stops:`), 'partition 0 stops');
  const problem = `${log.name}/0 cannot be read from offset 2 to 2: these records are compressed with gzip, and more than 67108864 bytes`;
  expect(service.errors).toContain(problem);
  await log.isPublished(0, 2);
  await log.send(1, ['c']);
  await log.isPublished(1, 1);
  expect(service.exitCode).toBeNull();
  expect(await scores(instance)).toEqual({ a: 1, b: 1, c: 1 });

  expect(await instance.run('status')).toContain(`Partition 0 has stopped: ${problem}`);
  const status = JSON.parse(await instance.run('status', '--json')) as {
    partitions: { published: number; lag: number; stopped: string | null }[];
  };
  expect(status.partitions).toMatchObject([
    { published: 2, lag: 2, stopped: expect.stringContaining(problem) },
    { lag: 0, stopped: null },
  ]);
  expect(await instance.run('doctor')).toContain(problem);
  const verify = instance.spawn('boards', 'verify', 'arena');
  expect(await verify.ended).toBe(0);
  expect(verify.errors).toContain(problem);
  await expectRankChanges(instance, 3);
});

it('a batch that was given up is passed over by every process, also after a loss of Redis, and in every build', async () => {
  const { instance, log } = made;
  const { redis, name } = instance;
  await log.send(0, ['a']);
  await sendTooLarge(0);
  await log.send(0, ['b']);
  const place = (offsets: string) => `${log.name}/0/${offsets}`;
  const stopped = await instance.start();
  await until(() => stopped.errors.includes(`ranklog skip ${place('1-1')}`), 'it names a way out');
  for (const [wrong, code] of [
    [place('0-0'), 1],
    [place('1-2'), 1],
    [place('2-2'), 1],
    [`${instance.topics.rankChanges}/0/1-1`, 2],
  ] as const) {
    const refused = instance.spawn('skip', wrong);
    expect([wrong, await refused.ended]).toEqual([wrong, code]);
  }
  const skip = () => instance.run('skip', place('1-1'));
  expect(await skip()).toContain('offsets 1 to 1 are given up');
  expect(await skip()).toBe(await skip()); // safe to repeat
  expect(JSON.parse(await instance.run('status', '--json'))).toMatchObject({
    partitions: [{ published: 1, lag: 2, stopped: null }, {}],
  });
  stopped.kill('SIGTERM');
  await stopped.ended;

  const service = await instance.start();
  expect(service.errors).toContain(`${place('1-1')} was given up: it is skipped`);
  await log.isPublished(0, 3);
  expect(await scores(instance)).toEqual({ a: 1, b: 1 });
  await instance.run('boards', 'verify', 'arena');
  await instance.run('boards', 'rebuild', 'arena');
  service.kill('SIGTERM');
  await service.ended;
  await redis.unlink(...(await redis.keys(`${name}:*`)));
  await instance.start();
  await log.isApplied(0, 3);
  expect(await scores(instance)).toEqual({ a: 1, b: 1 });
  await instance.run('boards', 'verify', 'arena');
  await expectRankChanges(instance, 2);
});

it('a skip of a batch that was published already says what becomes of its events', async () => {
  const { instance, log } = made;
  const { admin, name } = instance;
  await sendTooLarge(0);
  await admin.setOffsets({
    groupId: name,
    topic: log.name,
    partitions: [{ partition: 0, offset: '1' }],
  });
  expect(await instance.run('skip', `${log.name}/0/0-0`)).toContain(
    'builds will lack these events. The live boards have them already',
  );
});

it('a record in such a batch is not missed, if an earlier version has applied it', async () => {
  const { kafka, topics } = made.instance;
  await sendTooLarge(0);
  const last = { offset: 0, timestamp: 1, hash: 'of an earlier version' };
  const scoreLog = new ScoreLog({ kafka, topics } as KafkaConnection);
  const check = () => scoreLog.check(0, { published: 1, last });
  const error: unknown = await check().catch((refusal: unknown) => refusal);
  if (!(error instanceof UnreadableBatchError)) throw error;
  passOver([error.batch]);
  expect(await check()).toMatchObject({ start: 0, end: 1 });
});

it('status counts dead letters up to a batch of them that cannot be read', async () => {
  const { instance } = made;
  await sendTooLarge(0, instance.topics.deadLetters);
  expect(JSON.parse(await instance.run('status', '--json'))).toMatchObject({ deadLetters: [] });
});

it('a batch of definitions that cannot be read is removed as the error says, and Redis has all of them', async () => {
  const { instance, log } = made;
  const { admin, topics } = instance;
  const topic = topics.definitions;
  await log.send(0, ['a']);
  const first = await instance.start();
  await log.isPublished(0, 1);
  first.kill('SIGTERM');
  await first.ended;
  const [before] = await admin.fetchTopicOffsets(topic);
  await sendTooLarge(0, topic);
  const refused = instance.spawn('start');
  expect(await refused.ended).not.toBe(0);
  expect(refused.errors).toContain('"A batch of definitions that cannot be read"');
  expect(refused.errors).not.toContain('ranklog skip');

  const end = String(Number(before?.high) + 1);
  const removal = () =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: end }] });
  await expect(removal()).rejects.toThrow(); // the policy of a compacted topic
  await configure({ admin }, topic, { 'cleanup.policy': 'compact,delete', 'retention.ms': '-1' });
  await removal();
  await configure({ admin }, topic, { 'cleanup.policy': 'compact' });
  await log.send(1, ['b']);
  const service = await instance.start();
  await log.isPublished(1, 1);
  expect(await scores(instance)).toEqual({ a: 1, b: 1 });
  await until(() => service.errors.includes('is written to Kafka now'), 'the topic has it again');
});
