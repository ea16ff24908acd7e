import { describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { until } from '../support/instance.js';
import { expectRankChanges, scores, useScoreTopic } from './score-topic.js';

const PLAYERS = Array.from({ length: 40 }, (_, index) => `player-${index}`);

describe('a score topic that gets more partitions while ingest runs', () => {
  const made = useScoreTopic({ partitions: 2 });

  const produce = async () => {
    const { instance } = made;
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    await producer.send(PLAYERS.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    await producer.disconnect();
  };

  it('waits until the result topics have them too, and loses and repeats nothing', async () => {
    const { instance, log } = made;
    const { admin, topics } = instance;
    const service = await instance.start();
    await produce();
    await instance.published(PLAYERS.length);

    await admin.createPartitions({
      topicPartitions: [{ topic: topics.scoreEvents, count: 5 }],
      validateOnly: false,
    });
    const count = async () => (await log.ends().catch(() => new Map())).size; // at first, not all of them have a leader
    await until(async () => (await count()) === 5, 'the partitions are there');
    await produce();
    const moved = [...(await log.ends())].filter(([partition, end]) => partition >= 2 && end > 0);
    expect(moved.length).toBeGreaterThan(0);
    await until(
      () =>
        service.errors.includes(
          'so results of partition 2 have no place; run \\"ranklog topics\\"',
        ),
      'the service logs what to do',
    );
    expect(await scores(instance)).not.toEqual({});
    await instance.run('topics');
    await instance.published(2 * PLAYERS.length);
    await produce();
    await instance.published(3 * PLAYERS.length);

    expect(await scores(instance)).toEqual(
      Object.fromEntries(PLAYERS.map((playerId) => [playerId, 3])),
    );
    await expectRankChanges(instance, 3 * PLAYERS.length);
    expect(service.exitCode).toBeNull();
  });
});
