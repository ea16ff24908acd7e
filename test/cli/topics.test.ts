import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { MOST_VIEWS_OF_AN_EVENT } from '#board';
import { encodeRankChange } from '#contracts';
import { TestInstance } from '../support/instance.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

/** Bytes of the rank change of a board that asks for all there is, with the longest ids, names, values and views. */
function largestRankChange(): number {
  const most = 9_007_199_254_740_991;
  const playerId = '"'.repeat(128); // JSON doubles them
  const name = (index: number) => `${index}`.repeat(64);
  const columns = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [name(index), '-9.007199254740991']),
  );
  const place = { rank: most, competitionRank: most, columns };
  const where = Array.from({ length: 8 }, (_, index) => ` ${name(index)}=${'%FF'.repeat(256)}`);
  const view = `interval:${name(0)}@2026-11-20T17:00:00.123456Z${where.join('')}`;
  const overtook = Array(100).fill({ playerId, rankBefore: most, rankAfter: most });
  const change = { view, version: most, before: place, after: place, overtook };
  const source = { topic: 't'.repeat(249), partition: most, offset: most };
  const { value } = encodeRankChange({
    ...{ board: playerId, generation: playerId, playerId, eventId: playerId, source },
    occurredAt: '2026-11-20T09:00:00.123Z',
    changes: Array(MOST_VIEWS_OF_AN_EVENT).fill(change),
  });
  return Buffer.byteLength(value);
}

describe('ranklog topics', () => {
  let instance: TestInstance;
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterEach(() => instance.remove());

  const configOf = async (topic: string) => {
    const { resources } = await instance.admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    });
    return Object.fromEntries(
      resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
  };
  const alter = (topic: string, name: string, value: string) =>
    instance.admin.alterConfigs({
      validateOnly: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value }] },
      ],
    });

  it('creates them with the settings that they need', async () => {
    const { topics } = instance;
    const score = await configOf(topics.scoreEvents);
    expect(score).toMatchObject({
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'cleanup.policy': 'delete',
    });
    const dead = await configOf(topics.deadLetters);
    expect(Number(dead['max.message.bytes'])).toBe(Number(score['max.message.bytes']) + 65_536);
    const changes = await configOf(topics.rankChanges);
    expect(Number(changes['max.message.bytes'])).toBeGreaterThan(largestRankChange() + 65_536);
    expect(await configOf(topics.definitions)).toMatchObject({ 'cleanup.policy': 'compact' });
    const reports = JSON.parse(await instance.run('topics', '--json')) as {
      partitions: number;
      state: string;
    }[];
    expect(reports.map(({ partitions, state }) => [partitions, state])).toEqual([
      [2, 'ok'],
      [2, 'ok'],
      [2, 'ok'],
      [2, 'ok'],
      [1, 'ok'],
    ]);
  });

  it('refuses a score topic that loses events, says what mends it, and takes it when told to', async () => {
    await alter(instance.topics.scoreEvents, 'retention.ms', '3600000');
    const refused = instance.spawn('topics');
    expect(await refused.ended).toBe(1);
    expect(refused.errors).toContain('retention.ms=3600000');
    expect(refused.errors).toContain(
      '--add-config retention.ms=-1,retention.bytes=-1,cleanup.policy=delete',
    );
    expect(refused.errors).toContain('--allow-short-history');
    await instance.run('topics', '--allow-short-history');
  });

  it('adds partitions to result topics when the score topic has got more', async () => {
    const { admin, topics } = instance;
    await admin.createPartitions({ topicPartitions: [{ topic: topics.scoreEvents, count: 3 }] });
    const reports = JSON.parse(await instance.run('topics', '--json')) as {
      partitions: number;
      state: string;
    }[];
    expect(reports.slice(0, 4).map(({ partitions, state }) => [partitions, state])).toEqual([
      [3, 'ok'],
      [3, 'partitions added'],
      [3, 'partitions added'],
      [3, 'partitions added'],
    ]);
  });
});
