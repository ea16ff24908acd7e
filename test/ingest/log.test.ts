import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until } from '../support/instance.js';
import { readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const PLAYERS = Array.from({ length: 40 }, (_, index) => `player-${index}`);

describe('a score topic whose history is cut', () => {
  let instance: TestInstance;
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterEach(() => instance.remove());

  const produce = async () => {
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    await producer.send(PLAYERS.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    await producer.disconnect();
  };
  const logEnds = async () => {
    const ends = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    return new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
  };
  const cut = async (partitions: readonly number[]) => {
    await logEnds(); // kafkajs must have heard of the topic
    await instance.admin.deleteTopicRecords({
      topic: instance.topics.scoreEvents,
      partitions: partitions.map((partition) => ({ partition, offset: '-1' })),
    });
  };

  it('is read from what is left by a ranklog that is new', async () => {
    await produce();
    await cut([0, 1]);
    await produce();
    await instance.start();
    await until(
      async () => (await readRankChanges(instance.kafka, instance.topics)).length >= PLAYERS.length,
      'what is left is published',
    );
    const { size } = await instance.reader.standings('arena', 'all', { offset: 0, limit: 1 });
    expect(size).toBe(PLAYERS.length);
    expect(await readRankChanges(instance.kafka, instance.topics)).toHaveLength(PLAYERS.length);
  }, 60_000);

  it('stops the partition that needs the lost part, with an error, and the others go on', async () => {
    const service = await instance.start();
    await produce();
    await instance.published(PLAYERS.length);
    service.kill('SIGTERM');
    await service.ended;
    await produce();
    const { redis, name } = instance;
    await redis.unlink(...(await redis.keys(`${name}:*`))); // both partitions have to begin again at 0
    await cut([0]);
    const ends = await logEnds();

    const again = await instance.start();
    await until(() => again.errors.includes(`score-events/0 stops:`), 'partition 0 stops');
    expect(again.errors).toContain(
      `has to go on at offset 0, but the log holds ${ends.get(0) ?? 0} to ${ends.get(0) ?? 0}`,
    );
    await until(
      async () => (await instance.reader.appliedOffsets()).get(1) === ends.get(1),
      'partition 1 is applied',
    );
    expect(again.exitCode).toBeNull();
    const [group] = await instance.admin.fetchOffsets({
      groupId: name,
      topics: [instance.topics.scoreEvents],
    });
    const offset = group?.partitions.find(({ partition }) => partition === 0)?.offset;
    expect(Number(offset)).toBe((ends.get(0) ?? 0) / 2);
  }, 60_000);
});

describe('topics that are not there', () => {
  it('end the start with exit code 2 and the command that makes them', async () => {
    const instance = await TestInstance.create(BOARDS);
    try {
      await instance.admin.deleteTopics({ topics: [instance.topics.rankChanges] });
      const service = instance.spawn('start');
      expect(await service.ended).toBe(2);
      expect(service.errors).toContain(
        `there is no topic ${instance.topics.rankChanges}; create what is missing with "ranklog topics"`,
      );
      await instance.run('topics');
    } finally {
      await instance.remove();
    }
  });
});
