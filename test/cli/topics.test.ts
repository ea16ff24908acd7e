import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { TestInstance } from '../support/instance.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

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
