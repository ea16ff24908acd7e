import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until } from '../support/instance.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { BOARDS, scores, ScoreTopic } from './score-topic.js';

const PLAYERS = Array.from({ length: 40 }, (_, index) => `player-${index}`);

describe('a score topic that gets more partitions while ingest runs', () => {
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

  it('has them waited for until the result topics have them, too, and loses and repeats nothing', async () => {
    const { admin, topics, kafka } = instance;
    const log = new ScoreTopic(instance);
    const service = await instance.start();
    await produce();
    await instance.published(PLAYERS.length);

    await admin.createPartitions({
      topicPartitions: [{ topic: topics.scoreEvents, count: 5 }],
      validateOnly: false,
    });
    const count = async () => (await log.ends().catch(() => new Map())).size; // not all have a leader at first
    await until(async () => (await count()) === 5, 'the partitions are there');
    await produce();
    const moved = [...(await log.ends())].filter(([partition, end]) => partition >= 2 && end > 0);
    expect(moved.length).toBeGreaterThan(0);
    await until(
      () =>
        service.errors.includes(
          'so results of partition 2 have no place; run \\"ranklog topics\\"',
        ),
      'the service says what to do',
    );
    expect(await scores(instance)).not.toEqual({});
    await instance.run('topics');
    await instance.published(2 * PLAYERS.length);
    await produce();
    await instance.published(3 * PLAYERS.length);

    expect(await scores(instance)).toEqual(
      Object.fromEntries(PLAYERS.map((playerId) => [playerId, 3])),
    );
    const causes = (await readRankChanges(kafka, topics)).map(causeOf);
    expect([new Set(causes).size, causes.length]).toEqual([120, 120]);
    expect(service.exitCode).toBeNull();
  });
});
