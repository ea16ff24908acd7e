import { afterEach, describe, expect, it } from '@jest/globals';
import {
  compareWithOfficialTables,
  FOOTBALL_BOARDS,
  FOOTBALL_FILE,
  footballLines,
} from '../support/football.js';
import { TestInstance, until } from '../support/instance.js';
import { brokenChains, causeOf, readRankChanges } from '../support/results.js';

describe('ingest under load', () => {
  let instance: TestInstance | undefined;
  afterEach(() => instance?.remove());

  it('ends by SIGTERM with exit code 0 within 10 s, and the next one loses and repeats nothing', async () => {
    const total = footballLines().length;
    instance = await TestInstance.create(FOOTBALL_BOARDS);
    const service = await instance.start();
    const producing = instance.spawn('produce', FOOTBALL_FILE);
    await until(async () => (await instance!.publishedCount()) > 500, 'something is published');
    const begin = performance.now();
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(service.errors).toContain('"stopped"');
    expect(await instance.publishedCount()).toBeLessThan(total);
    expect(await producing.ended).toBe(0);

    await instance.start();
    await instance.published(total);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes).toHaveLength(total);
    expect(new Set(changes.map(causeOf)).size).toBe(total);
    expect(brokenChains(changes)).toEqual([]);
  }, 90_000);

  it('hands partitions from one instance to another as they come and go, and every result is there once', async () => {
    const total = footballLines().length;
    instance = await TestInstance.create(FOOTBALL_BOARDS, { env: { RANKLOG_SHARDS: '2' } });
    const producing = instance.spawn('produce', FOOTBALL_FILE, '--rate', '1500');
    let [stays, leaves] = [await instance.start(), await instance.start()];
    let rounds = 0;
    while (rounds < 3 && (await instance.publishedCount()) < total) {
      const before = await instance.publishedCount();
      const enough = Math.min(before + 500, total);
      await instance.published(enough);
      leaves.kill(rounds % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
      await leaves.ended;
      [stays, leaves] = [await instance.start(), stays];
      rounds += 1;
    }
    expect(rounds).toBeGreaterThan(1);
    expect(await producing.ended).toBe(0);
    await instance.published(total);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes).toHaveLength(total);
    expect(new Set(changes.map(causeOf)).size).toBe(total);
    expect(brokenChains(changes)).toEqual([]);
    expect(await compareWithOfficialTables(instance.reader)).toEqual({ figures: 27, order: 22 });
  }, 120_000);
});
