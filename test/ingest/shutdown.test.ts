import { describe, expect, it } from '@jest/globals';
import { FOOTBALL_BOARDS, footballLines } from '../support/football.js';
import { until } from '../support/instance.js';
import { expectExactChains, useScoreTopic } from './score-topic.js';

/** Small sends, so that the service works while events are sent. */
const BATCH = 200;

describe('a shutdown under load', () => {
  const made = useScoreTopic({ boards: FOOTBALL_BOARDS });

  it('ends with exit code 0 before its deadline, and the next instance loses and repeats nothing', async () => {
    const { instance } = made;
    const lines = footballLines().slice(0, 8_000);
    // A lost session would log a warning, which fails the test
    instance.env['RANKLOG_SESSION_TIMEOUT'] = '10s';
    const service = await instance.start();
    const producing = instance.produce(lines, BATCH);
    await until(async () => (await instance.publishedCount()) > 500, 'something is published');
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.errors).toContain('"stopped"');
    const since = service.errors.slice(service.errors.indexOf('SIGTERM'));
    const isProblem = (line: string) => (JSON.parse(line) as { level: number }).level >= 40;
    expect(since.split('\n').slice(1, -1).filter(isProblem)).toEqual([]);
    expect(await instance.publishedCount()).toBeLessThan(lines.length);
    await producing;

    await instance.start();
    await instance.published(lines.length);
    await expectExactChains(instance, lines.length);
  });

  it.each([
    ['Redis', 'a second SIGTERM', '60s', 'SIGTERM again: ending at once'],
    ['Kafka', 'its deadline', '1500ms', 'not finished after 1500 ms'],
  ] as const)(
    'while %s does not answer is forced by %s, with exit code 1, and nothing is lost or repeated',
    async (server, by, shutdownTimeout, message) => {
      const { instance } = made;
      const lines = footballLines().slice(0, 2_000);
      const [half, part] = [lines.length / 2, (lines.length * 3) / 4];
      instance.env['RANKLOG_SHUTDOWN_TIMEOUT'] = shutdownTimeout;
      const direct = { ...instance.env };
      const proxy = await made[`through${server}Proxy`]();
      const service = await instance.start();
      Object.assign(instance.env, direct);
      await instance.produce(lines.slice(0, half), BATCH);
      await instance.published(half);
      const producing = instance.produce(lines.slice(half, part), BATCH);
      await until(async () => (await instance.publishedCount()) > half, 'it works');
      proxy.freeze();
      await producing;
      // The service may have published all earlier events
      await instance.produce(lines.slice(part), BATCH);

      const begin = performance.now();
      service.kill('SIGTERM');
      if (by === 'a second SIGTERM') {
        const ending = () => service.errors.includes('finishing what is in flight');
        await until(ending, 'it is ending');
        const first = performance.now();
        await until(() => performance.now() - first > 1_100, 'the next signal is a second one');
        service.kill('SIGTERM');
      }
      expect(await service.ended).toBe(1);
      expect(performance.now() - begin).toBeLessThan(30_000);
      expect(service.errors).toContain(message);
      await instance.start();
      await instance.published(lines.length);
      await expectExactChains(instance, lines.length);
    },
  );
});
