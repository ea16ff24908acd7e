import { describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { until } from '../support/instance.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { expectRankChanges, scores, useScoreTopic } from './score-topic.js';

const ONE = ['a', 'b', 'c', 'd', 'e'];
const OTHER = ['v', 'w', 'x', 'y', 'z'];
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);

describe('a score topic whose history is cut', () => {
  const made = useScoreTopic({ partitions: 3 });

  /** Checks that these offsets have one rank change each, by partition. */
  const expectResults = async (...offsets: readonly (readonly number[])[]) => {
    const { instance, log } = made;
    const changes = await readRankChanges(instance.kafka, instance.topics);
    const expected = offsets.flatMap((list, partition) =>
      list.map((offset) => `${log.name}/${partition}/${offset}`),
    );
    expect(changes.map(causeOf).sort()).toEqual(expected.sort());
  };

  it('is read by a new ranklog from the first record that is left, also in a partition of which nothing was published before a kill', async () => {
    const { instance, log } = made;
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.send(2, OTHER);
    await log.cut(0);
    await log.cut(1, 2);
    await log.cut(2);
    await log.send(0, ONE);
    const first = await instance.start();
    await log.isPublished(0, 10);
    await log.isPublished(1, 5);
    await log.isApplied(2, 5);
    expect(await log.published(2)).toBe(0);
    first.kill('SIGKILL');
    await first.ended;
    const second = await instance.start();
    await log.send(2, ['v']);
    await log.isPublished(2, 6);
    expect(second.errors).not.toContain('stops:');
    await expectResults(range(5, 10), range(2, 5), [5]);
    expect(await scores(instance)).toEqual({
      a: 1,
      b: 1,
      c: 1,
      d: 1,
      e: 1,
      v: 1,
      x: 1,
      y: 1,
      z: 1,
    });
  });

  it('is read on if every deleted record was applied; otherwise the partition stops with an error', async () => {
    const { instance, log } = made;
    const first = await instance.start();
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.isPublished(0, 5);
    await log.isPublished(1, 5);
    await log.cut(0, 3);
    await log.send(0, ONE);
    await log.isPublished(0, 10);
    first.kill('SIGTERM');
    await first.ended;
    expect(first.errors).not.toContain('stops:');
    await log.cut(0);
    await log.send(1, OTHER);
    await log.cut(1, 8);

    const service = await instance.start();
    await until(() => service.errors.includes(`${log.name}/1 stops:`), 'partition 1 stops');
    expect(service.errors).toContain(
      'must continue at offset 5, but the log starts at 8 and ends at 10: its history was cut',
    );
    expect(service.errors).toContain(
      'This partition stops so that no event is skipped; the others continue; for what to do see',
    );
    await log.send(1, OTHER);
    await log.send(0, ONE);
    await log.isPublished(0, 15);
    expect(await log.published(1)).toBe(5);
    await expectResults(range(0, 15), range(0, 5));
    expect(service.errors).not.toContain(`${log.name}/0 stops:`);
    expect(service.exitCode).toBeNull();
  });

  it('stops the cut partition if Redis has lost its data, too; the others are applied again, then wait for it, and log that', async () => {
    const { instance, log } = made;
    const { redis, name, reader } = instance;
    instance.env['RANKLOG_STALL_TIMEOUT'] = '8s';
    const first = await instance.start();
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.isPublished(0, 5);
    await log.isPublished(1, 5);
    first.kill('SIGTERM');
    await first.ended;
    await log.send(1, OTHER);
    await redis.unlink(...(await redis.keys(`${name}:*`)));
    await log.cut(0);

    const service = await instance.start();
    await until(() => service.errors.includes(`${log.name}/0 stops:`), 'partition 0 stops');
    expect(service.errors).toContain('at offset 0, but the log starts at 5 and ends at 5');
    await log.isApplied(1, 5);
    const waiting = `${log.name}/1 waits until other partitions have recovered: partition 0 (0 of 5)`;
    await until(() => service.errors.includes(waiting), 'partition 1 logs what it waits for');
    const begin = performance.now();
    expect((await instance.status.nextOffsets()).get(1)).toBe(5);
    expect(await reader.standings('arena', { view: 'all', limit: 0 })).toMatchObject({
      stale: true,
    });
    const status = JSON.parse(await instance.run('status', '--json')) as { recovering: unknown };
    expect(status.recovering).toEqual([{ shard: 0, partition: 0, target: 5, applied: 0 }]);
    expect(await log.published(1)).toBe(5);
    await until(() => performance.now() - begin > 11_000, 'the stall timeout has passed');
    expect(service.exitCode).toBeNull();
  });
});

describe('a score topic that gets more partitions while ingest runs', () => {
  const made = useScoreTopic({ partitions: 2 });
  const players = range(0, 40).map((index) => `player-${index}`);

  const produce = async () => {
    const { kafka, name } = made.instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    await producer.connect();
    await producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    await producer.disconnect();
  };

  it('has its new partitions wait until the result topics have them, too; no result is lost or repeated', async () => {
    const { instance, log } = made;
    const service = await instance.start();
    await produce();
    await instance.published(players.length);

    await instance.admin.createPartitions({
      topicPartitions: [{ topic: log.name, count: 5 }],
      validateOnly: false,
    });
    // At first, not all of them have a leader
    const count = async () => (await log.ends().catch(() => new Map())).size;
    await until(async () => (await count()) === 5, 'the partitions are there');
    await produce();
    const moved = [...(await log.ends())].filter(([partition, end]) => partition >= 2 && end > 0);
    expect(moved.length).toBeGreaterThan(0);
    const advice = 'where the results of score partition 2 belong; run \\"ranklog topics\\"';
    await until(() => service.errors.includes(advice), 'the service logs what to do');
    expect(await scores(instance)).not.toEqual({});
    await instance.run('topics');
    await instance.published(2 * players.length);
    await produce();
    await instance.published(3 * players.length);

    expect(await scores(instance)).toEqual(
      Object.fromEntries(players.map((playerId) => [playerId, 3])),
    );
    await expectRankChanges(instance, 3 * players.length);
    expect(service.exitCode).toBeNull();
  });
});
