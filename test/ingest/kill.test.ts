import { describe, expect, it } from '@jest/globals';
import { compareWithOfficialTables, FOOTBALL_BOARDS, footballLines } from '../support/football.js';
import { until } from '../support/instance.js';
import { consoleConsumerIds } from '../support/results.js';
import { seededRandom } from '../support/seeded-random.js';
import { expectExactChains, useScoreTopic } from './score-topic.js';

const SIGNALS = ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGKILL'] as const;
/**
 * In each round, the signal comes after at most this many more published events: fewer than the
 * round sends.
 */
const MAX_BEFORE_A_SIGNAL = 1_500;
/** Small sends, so that the services work while events are sent. */
const BATCH = 200;

describe('instances that are killed or terminated under load, and replaced', () => {
  const made = useScoreTopic({ boards: FOOTBALL_BOARDS });

  it('publish every result exactly once and build the official tables', async () => {
    const lines = footballLines();
    const total = lines.length;
    const share = Math.floor(total / (SIGNALS.length + 1));
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const { instance } = made;
    instance.env['RANKLOG_SHARDS'] = '2';
    const { topics, reader, name } = instance;
    let [stays, leaves] = await Promise.all([instance.start(), instance.start()]);
    for (const [round, signal] of SIGNALS.entries()) {
      const before = await instance.publishedCount();
      const wait = Math.floor(random() * MAX_BEFORE_A_SIGNAL);
      const producing = instance.produce(lines.slice(round * share, (round + 1) * share), BATCH);
      await until(
        async () => (await instance.publishedCount()) > before + wait,
        `more is published in round ${round}`,
      );
      leaves.kill(signal);
      await Promise.all([leaves.ended, producing]);
      if (signal === 'SIGTERM') expect(leaves.exitCode).toBe(0);
      [stays, leaves] = [await instance.start(), stays];
    }
    await instance.produce(lines.slice(SIGNALS.length * share), BATCH);
    await instance.published(total);

    await expectExactChains(instance, total);
    const ids = await consoleConsumerIds(topics.rankChanges, total);
    expect(new Set(ids).size).toBe(total);
    expect(ids).toHaveLength(total);
    expect(ids.every((id) => id.startsWith(`${name}.score-events/`))).toBe(true);
    expect(await compareWithOfficialTables(reader)).toEqual({ figures: 27, order: 22 });
  }, 400_000);
});
