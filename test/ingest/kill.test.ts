import { afterEach, describe, expect, it } from '@jest/globals';
import { compareWithOfficialTables, FOOTBALL_BOARDS, footballLines } from '../support/football.js';
import { TestInstance, until } from '../support/instance.js';
import { consoleConsumerIds } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';
import { expectExactChains } from './score-topic.js';

const KILLS = 10;
/** Fewer than the events that are sent before each kill. */
const MAX_BEFORE_A_KILL = 1_000;
/** So that the service works while events are sent. */
const BATCH = 200;

describe('ingest that is killed', () => {
  let instance: TestInstance | undefined;
  afterEach(() => instance?.remove());

  it('publishes every result exactly once and builds the official tables after ten kills', async () => {
    const lines = footballLines();
    const total = lines.length;
    const share = Math.floor(total / (KILLS + 1));
    const { random, seed } = seededRandom();
    instance = await TestInstance.create(FOOTBALL_BOARDS);
    const { admin, topics, reader, name } = instance;
    let service = await instance.start();

    const kills: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await instance.publishedCount();
      const wait = Math.floor(random() * MAX_BEFORE_A_KILL);
      const producing = instance.produce(lines.slice(kill * share, (kill + 1) * share), BATCH);
      await until(
        async () => (await instance!.publishedCount()) > before + wait,
        `more is published after kill ${kill}`,
      );
      service.kill('SIGKILL');
      await Promise.all([service.ended, producing]);
      const published = await instance.publishedCount();
      const ends = await admin.fetchTopicOffsets(topics.scoreEvents);
      const logEnd = ends.reduce((sum, { high }) => sum + Number(high), 0);
      kills.push(`kill ${kill + 1}: published ${published}, log end ${logEnd}, of ${total}`);
      expect(published).toBeGreaterThan(0);
      expect(published).toBeLessThan(total);
      service = await instance.start();
    }
    await instance.produce(lines.slice(KILLS * share), BATCH);
    await instance.published(total);
    process.stdout.write(`seed ${seed}\n${kills.join('\n')}\n`);

    await expectExactChains(instance, total);
    const ids = await consoleConsumerIds(topics.rankChanges, total);
    expect(new Set(ids).size).toBe(total);
    expect(ids).toHaveLength(total);
    expect(ids.every((id) => id.startsWith(`${name}.score-events/`))).toBe(true);
    expect(await compareWithOfficialTables(reader)).toEqual({ figures: 27, order: 22 });
  }, 400_000);
});
