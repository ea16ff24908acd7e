import { afterEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';

const BOARDS =
  'boards: { arena: { columns: [{ name: score }] }, chess: { columns: [{ name: elo }] } }';

/** The lines of `/metrics` that begin with `name`. */
async function metrics(service: RanklogProcess, name: string): Promise<string[]> {
  const text = await (await fetch(`${service.operations}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe('the schedule', () => {
  let instance: TestInstance;
  afterEach(() => instance.remove());

  /** An instance that verifies each second, with some events on its boards. */
  const create = async (settings: NodeJS.ProcessEnv = {}) => {
    const env = { RANKLOG_VERIFY_SCHEDULE: '* * * * * *', ...settings };
    instance = await TestInstance.create(BOARDS, { partitions: 2, env });
    const lines = Array.from({ length: 40 }, (_, index) => ({
      board: index % 2 === 0 ? 'arena' : 'chess',
      playerId: `player-${index % 7}`,
      delta: index,
    })).map((event) => JSON.stringify(event));
    await instance.produce(lines);
    const service = await instance.start();
    await instance.published(lines.length);
    return service;
  };
  const says = (service: RanklogProcess, words: string) =>
    until(() => service.errors.includes(words), `the log says: ${words}`);

  /**
   * Waits until the last verify has these metrics. A turn of the schedule soon after it removes
   * them; the next turn sets them.
   */
  const tells = (service: RanklogProcess, lines: readonly string[]) =>
    until(
      async () => (await metrics(service, 'ranklog_verify_equal')).sort().join() === lines.join(),
      `the metrics are: ${lines.join()}`,
    );

  /** Removes a player of arena from the ranking; returns the damaged generation. */
  const damage = async () => {
    const { redis, name } = instance;
    const generation = (await redis.hget(`${name}:4:{${name}:0}:live`, 'arena')) ?? '';
    const ranking = `${name}:4:{${name}:0}:${generation}:ranking:all`;
    const [member = Buffer.alloc(0)] = await redis.zrangeBuffer(ranking, 0, 0);
    expect(await redis.zrem(ranking, member)).toBe(1);
    return generation;
  };

  it('verifies all live boards again and again, each time in one of the processes, and reports differences', async () => {
    const service = await create();
    await says(service, 'board \\"arena\\" is what the log makes of it');
    await says(service, 'board \\"chess\\" is what the log makes of it');
    await tells(service, [
      'ranklog_verify_equal{board="arena"} 1',
      'ranklog_verify_equal{board="chess"} 1',
    ]);
    const [success = ''] = await metrics(service, 'ranklog_verify_last_success_timestamp_seconds');
    expect(Math.abs(Number(success.split(' ')[1]) - Date.now() / 1_000)).toBeLessThan(60);

    const second = await instance.start();
    const turns = () => (service.errors + second.errors).split('board \\"arena\\" is what').length;
    const before = turns();
    await until(() => turns() > before + 4, 'some turns are over');
    for (const { errors } of [service, second]) expect(errors).not.toContain('verify failed');
    second.kill('SIGTERM');
    await second.ended;

    await damage();
    await says(service, 'board \\"arena\\" has ');
    await tells(service, [
      'ranklog_verify_equal{board="arena"} 0',
      'ranklog_verify_equal{board="chess"} 1',
    ]);
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it('rebuilds boards that differ, if it is configured to', async () => {
    const service = await create({ RANKLOG_VERIFY_REBUILD: 'true' });
    const damaged = await damage();
    await says(service, 'board \\"arena\\" was built again');
    expect(
      await instance.redis.hget(`${instance.name}:4:{${instance.name}:0}:live`, 'arena'),
    ).not.toBe(damaged);
    await until(
      async () =>
        (await metrics(service, 'ranklog_verify_equal{board="arena"}'))[0]?.endsWith(' 1') === true,
      'the next verify finds nothing',
    );
  });
});
