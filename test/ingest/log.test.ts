import { describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import { causeOf, readRankChanges } from '../support/results.js';
import { BOARDS, scores, useScoreTopic } from './score-topic.js';

const ONE = ['a', 'b', 'c', 'd', 'e'];
const OTHER = ['v', 'w', 'x', 'y', 'z'];

describe('a score topic whose history is cut', () => {
  const made = useScoreTopic({ partitions: 2 });

  /** Checks that these offsets have one rank change each, by partition. */
  const expectResults = async (offsets: Record<number, readonly number[]>) => {
    const { instance, log } = made;
    const changes = await readRankChanges(instance.kafka, instance.topics);
    const expected = Object.entries(offsets).flatMap(([partition, list]) =>
      list.map((offset) => `${log.name}/${partition}/${offset}`),
    );
    expect(changes.map(causeOf).sort()).toEqual(expected.sort());
  };
  const upTo = (end: number) => Array.from({ length: end }, (_, offset) => offset);
  const stopAfterFirstEvents = async () => {
    const { instance, log } = made;
    const service = await instance.start();
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.isPublished(0, 5);
    await log.isPublished(1, 5);
    service.kill('SIGTERM');
    await service.ended;
  };

  it('is read from its first record by a new ranklog', async () => {
    const { instance, log } = made;
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.cut(0);
    await log.cut(1, 2);
    await log.send(0, ONE);
    await instance.start();
    await log.isPublished(0, 10);
    await log.isPublished(1, 5);
    await expectResults({ 0: [5, 6, 7, 8, 9], 1: [2, 3, 4] });
    expect(await scores(instance)).toEqual({ a: 1, b: 1, c: 1, d: 1, e: 1, x: 1, y: 1, z: 1 });
  });

  it('continues at its beginning, though nothing was published since', async () => {
    const { instance, log } = made;
    await log.send(0, ONE);
    await log.cut(0);
    const first = await instance.start();
    await log.isApplied(0, 5);
    expect(await log.published(0)).toBe(-1);
    first.kill('SIGKILL');
    await first.ended;
    const second = await instance.start();
    await log.send(0, ['a']);
    await log.isPublished(0, 6);
    expect(second.errors).not.toContain('stops:');
    await expectResults({ 0: [5] });
  });

  it('continues if everything that is gone was applied, running or not', async () => {
    const { instance, log } = made;
    const first = await instance.start();
    await log.send(0, ONE);
    await log.isPublished(0, 5);
    await log.cut(0, 3);
    await log.send(0, ONE);
    await log.isPublished(0, 10);
    first.kill('SIGTERM');
    await first.ended;
    await log.cut(0);
    const second = await instance.start();
    await log.send(0, ['a']);
    await log.isPublished(0, 11);
    await expectResults({ 0: upTo(11) });
    expect(await scores(instance)).toEqual({ a: 3, b: 2, c: 2, d: 2, e: 2 });
    expect(`${first.errors}${second.errors}`).not.toContain('stops:');
  });

  it('stops a partition that had not applied what is gone, with an error; the others continue', async () => {
    const { instance, log } = made;
    await stopAfterFirstEvents();
    await log.send(0, ONE);
    await log.cut(0, 8);
    await log.send(1, OTHER);

    const service = await instance.start();
    await until(() => service.errors.includes(`${log.name}/0 stops:`), 'partition 0 stops');
    expect(service.errors).toContain(
      'must continue at offset 5, but the log holds 8 to 10: its history was cut',
    );
    expect(service.errors).toContain(
      'This partition stops so that no event is skipped; the others continue; for what to do see',
    );
    await log.isPublished(1, 10);
    await log.send(0, ONE);
    await log.send(1, OTHER);
    await log.isPublished(1, 15);
    expect(await log.published(0)).toBe(5);
    await expectResults({ 0: upTo(5), 1: upTo(15) });
    expect(service.exitCode).toBeNull();
  });

  it('stops a partition that Redis has lost, too; the others are applied again, wait for it, and log that', async () => {
    const { instance, log } = made;
    await stopAfterFirstEvents();
    await log.send(1, OTHER);
    const { redis, name, reader } = instance;
    await redis.unlink(...(await redis.keys(`${name}:*`)));
    await log.cut(0);

    const service = await instance.start();
    await until(() => service.errors.includes(`${log.name}/0 stops:`), 'partition 0 stops');
    expect(service.errors).toContain('must continue at offset 0, but the log holds 5 to 5');
    await log.isApplied(1, 5);
    await until(
      () =>
        service.errors.includes(
          `${log.name}/1 waits until others are applied again: partition 0 (0 of 5)`,
        ),
      'partition 1 logs what it waits for',
    );
    expect((await reader.appliedOffsets()).get(1)).toBe(5);
    expect(await reader.standings('arena', 'all', { offset: 0, limit: 0 })).toMatchObject({
      stale: true,
    });
    const status = JSON.parse(await instance.run('status', '--json')) as { recovering: unknown };
    expect(status.recovering).toEqual([{ shard: 0, partition: 0, target: 5, applied: 0 }]);
    expect(await log.published(1)).toBe(5);
    expect(service.exitCode).toBeNull();
  });
});

describe('missing topics', () => {
  it('end the start with exit code 2 and the command that creates them', async () => {
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
