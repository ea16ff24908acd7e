import { describe, expect, it } from '@jest/globals';
import { configure } from '../support/kafka-client.js';
import { readRankChanges } from '../support/results.js';
import { useScoreTopic } from './score-topic.js';

describe('an instance', () => {
  const made = useScoreTopic({ partitions: 2 });
  const settings = { RANKLOG_STALL_TIMEOUT: '8s', RANKLOG_SHUTDOWN_TIMEOUT: '1s' };

  it.each([
    // The first command fails after 5 s; the one that releases the partition after 5 s more, or at
    // once without a connection.
    [
      'Redis',
      '13s',
      /score-events\/[01] \(\w+\) has made no progress for .* (Command timed out|Redis is not connected)/,
    ],
    ['Kafka', '8s', /nothing was fetched from .*score-events for \d+ s|has made no progress/],
  ] as const)(
    'ends with exit code 1 if %s does not answer, and logs the reason; the next one continues',
    async (server, stallTimeout, reason) => {
      const { instance, log } = made;
      Object.assign(instance.env, settings, { RANKLOG_STALL_TIMEOUT: stallTimeout });
      const direct = { ...instance.env };
      const proxy = await made[`through${server}Proxy`]();
      const service = await instance.start();
      await log.send(0, ['a']);
      await instance.published(1);
      proxy.freeze();
      await log.send(0, ['b']);
      expect(await service.ended).toBe(1);
      expect(service.errors).toMatch(reason);
      Object.assign(instance.env, direct);
      await instance.start();
      await instance.published(2);
      expect(await readRankChanges(instance.kafka, instance.topics)).toHaveLength(2);
    },
  );

  it('ends if all its partitions have stopped; instances without records, or without a partition, continue', async () => {
    const { instance, log } = made;
    Object.assign(instance.env, settings);
    const services = await Promise.all([1, 2, 3].map(() => instance.start()));
    await configure(instance, instance.topics.rankChanges, { 'max.message.bytes': '150' });
    await log.send(0, ['a']);
    const stopped = await Promise.race(
      services.map(async (service) => {
        await service.ended;
        return service;
      }),
    );
    const others = services.filter((service) => service !== stopped);
    expect(stopped.exitCode).toBe(1);
    expect(stopped.errors).toContain('score-events/0 stops:');
    expect(stopped.errors).toContain('score-events in this process are stopped (');
    expect(others.map(({ exitCode }) => exitCode)).toEqual([null, null]);
    // The topic of dead letters has no such limit
    await log.sendMessages([{ partition: 1, value: 'no event' }]);
    await instance.published(1);
  });
});
