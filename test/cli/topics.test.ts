import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigResourceTypes, ConfigSource } from 'kafkajs';
import { MAX_VIEWS_OF_AN_EVENT } from '#board';
import { encodePeriodResult, encodeRankChange } from '#contracts';
import { RanklogProcess, TestInstance, until } from '../support/instance.js';
import { configure } from '../support/kafka-client.js';

const MOST_AHEAD = 'message.timestamp.after.max.ms';
const TIMESTAMP_TYPE = 'message.timestamp.type';
const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

const MOST = 9_007_199_254_740_991;
/** The longest id. JSON doubles it. */
const ID = '"'.repeat(128);
const nameOf = (index: number) => `${index}`.repeat(64);
const COLUMNS = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [nameOf(index), '-9.007199254740991']),
);
const WHERE = Array.from({ length: 8 }, (_, index) => ` ${nameOf(index)}=${'%FF'.repeat(256)}`);
const WINDOW = `interval:${nameOf(0)}@2026-11-20T17:00:00.123456Z`;
const VIEW = `${WINDOW}${WHERE.join('')}`;

/**
 * The size in bytes of a period result with as many players as a board can announce, and with the
 * longest texts.
 */
function largestPeriodResult(): number {
  const player = { playerId: ID, rank: MOST, competitionRank: MOST, columns: COLUMNS };
  const time = '2026-11-20T09:00:00.123Z';
  const times = { window: WINDOW, start: time, end: time };
  const counts = { revision: MOST, size: MOST };
  const results = Array(500).fill(player) as (typeof player)[];
  const result = { board: ID, generation: ID, view: VIEW, ...times, ...counts, results };
  const { key, value } = encodePeriodResult(result, 't'.repeat(249));
  return Buffer.byteLength(value) + 3 * Buffer.byteLength(key); // its id in a header, too
}

/**
 * The size in bytes of a rank change with all that a board can publish, and with the longest ids,
 * names, values and views.
 */
function largestRankChange(): number {
  const place = { rank: MOST, competitionRank: MOST, columns: COLUMNS };
  const overtook = Array(100).fill({ playerId: ID, rankBefore: MOST, rankAfter: MOST });
  const change = { view: VIEW, version: MOST, before: place, after: place, overtook };
  const source = { topic: 't'.repeat(249), partition: MOST, offset: MOST };
  const { value } = encodeRankChange(
    {
      ...{ board: ID, generation: ID, playerId: ID, eventId: ID, source },
      occurredAt: '2026-11-20T09:00:00.123Z',
    },
    JSON.stringify(Array(MAX_VIEWS_OF_AN_EVENT).fill(change)),
  );
  return Buffer.byteLength(value);
}

describe('the topics', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterAll(() => instance.remove());

  /**
   * The settings of a topic: only its own, or also the settings that it inherits from the broker.
   */
  const configOf = async (topic: string, which: 'own' | 'all' = 'all') => {
    const { resources } = await instance.admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
    });
    return Object.fromEntries(
      resources[0]!.configEntries
        .filter(({ configSource: of }) => which === 'all' || of === ConfigSource.TOPIC_CONFIG)
        .map(({ configName, configValue }) => [configName, configValue]),
    );
  };
  /**
   * Makes the score topic keep its records for ever and limit dates to an hour ahead, except for
   * these settings.
   */
  const alterScoreTopic = (settings: Readonly<Record<string, string>>) =>
    configure(instance, instance.topics.scoreEvents, {
      'retention.ms': '-1',
      [MOST_AHEAD]: '3600000',
      ...settings,
    });

  /** Partitions and state of each topic, as "ranklog topics" reports them. */
  const reports = async () => {
    const text = await instance.run('topics', '--json');
    const found = JSON.parse(text) as { partitions: number; state: string }[];
    return found.map(({ partitions, state }) => [partitions, state]);
  };
  const expectRefusal = async (words: readonly string[], ...args: string[]) => {
    const refused = instance.spawn('topics', ...args);
    expect(await refused.ended).toBe(1);
    for (const word of words) expect(refused.errors).toContain(word);
  };

  it('are created with the settings that they need', async () => {
    const { topics } = instance;
    const score = await configOf(topics.scoreEvents);
    expect(await configOf(topics.scoreEvents, 'own')).toMatchObject({
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'cleanup.policy': 'delete',
      [TIMESTAMP_TYPE]: 'LogAppendTime',
      [MOST_AHEAD]: '3600000',
    });
    const dead = await configOf(topics.deadLetters);
    expect(Number(dead['max.message.bytes'])).toBe(Number(score['max.message.bytes']) + 65_536);
    const changes = await configOf(topics.rankChanges);
    expect(Number(changes['max.message.bytes'])).toBeGreaterThan(largestRankChange() + 65_536);
    const periods = await configOf(topics.periodResults, 'own');
    expect(periods).toMatchObject({ 'retention.ms': '-1' });
    expect(Number(periods['max.message.bytes'])).toBeGreaterThan(largestPeriodResult() + 65_536);
    expect(await configOf(topics.definitions)).toMatchObject({ 'cleanup.policy': 'compact' });
    expect(await reports()).toEqual([...Array(3).fill([2, 'ok']), [1, 'ok'], [2, 'ok'], [1, 'ok']]);
  });

  it('are named when Kafka does not create them, with its reason', async () => {
    const own = { RANKLOG_TOPIC_PREFIX: `${instance.name}-more`, RANKLOG_REPLICATION_FACTOR: '99' };
    const refused = new RanklogProcess(['topics'], { ...instance.env, ...own });
    expect(await refused.ended).toBe(4);
    expect(refused.errors).toContain(`can't create topic ${instance.name}-more.score-events: `);
    expect(refused.errors).toContain('eplication');
  });

  it('cause no warning at start if they keep all events and limit the dates', async () => {
    const service = await instance.start();
    expect(service.errors).not.toContain('loses events');
    expect(service.errors).not.toContain(MOST_AHEAD);
    service.kill('SIGTERM');
    await service.ended;
  });

  it('are refused by ranklog topics if the score topic loses events, unless --allow-short-history accepts that', async () => {
    await alterScoreTopic({ 'retention.ms': '3600000' });
    const repair = '--add-config retention.ms=-1,retention.bytes=-1,cleanup.policy=delete';
    await expectRefusal(['retention.ms=3600000', repair, '--allow-short-history']);
    await instance.run('topics', '--allow-short-history');
  });

  it('are refused by ranklog topics if the score topic accepts records dated more than a day ahead, unless the broker dates them', async () => {
    for (const mostAhead of ['86400001', '9223372036854775807']) {
      await alterScoreTopic({ [MOST_AHEAD]: mostAhead });
      const repair = `--add-config ${MOST_AHEAD}=3600000`;
      await expectRefusal([`(${MOST_AHEAD}=${mostAhead})`, repair], '--allow-short-history');
    }
    await alterScoreTopic({ [MOST_AHEAD]: '86400000' });
    await instance.run('topics');
    await alterScoreTopic({
      [MOST_AHEAD]: '9223372036854775807',
      [TIMESTAMP_TYPE]: 'LogAppendTime',
    });
    await instance.run('topics');
  });

  it('leave an existing score topic whose records the producers date as it is', async () => {
    await alterScoreTopic({ [TIMESTAMP_TYPE]: 'CreateTime' });
    await instance.run('topics');
    expect(await configOf(instance.topics.scoreEvents)).toMatchObject({
      [TIMESTAMP_TYPE]: 'CreateTime',
    });
  });

  it.each([
    ['retention.ms', '604800000', 'ingest'],
    ['retention.bytes', '1073741824', 'ingest'],
    ['cleanup.policy', 'compact', 'reconciliation'],
    ['cleanup.policy', 'compact,delete', 'ingest,reconciliation'],
  ])('are refused by start: %s=%s, with the roles %s', async (name, value, roles) => {
    await alterScoreTopic({ [name]: value });
    const refused = instance.spawn('start', '--roles', roles);
    const isDecided = () => refused.exitCode !== null || refused.errors.includes('"running:');
    await until(isDecided, 'the service is refused or runs');
    refused.kill('SIGKILL'); // if it runs
    expect(await refused.ended).toBe(2);
    expect(refused.errors).toContain(
      `${instance.topics.scoreEvents} loses events (${name}=${value})`,
    );
    expect(refused.errors).toContain('--add-config retention.ms=-1,retention.bytes=-1');
    expect(refused.errors).toContain('RANKLOG_ALLOW_SHORT_HISTORY=true');
  });

  it('are accepted by start if RANKLOG_ALLOW_SHORT_HISTORY is set, with a warning for each problem', async () => {
    await alterScoreTopic({ 'retention.ms': '604800000', [MOST_AHEAD]: '9223372036854775807' });
    instance.env['RANKLOG_ALLOW_SHORT_HISTORY'] = 'true';
    const service = await instance.start();
    expect(service.errors).toContain('loses events (retention.ms=604800000)');
    expect(service.errors).toContain(`(${MOST_AHEAD}=9223372036854775807)`);
  });

  // Last, because partitions can't be removed again.
  it('get more partitions for results when the score topic has got more', async () => {
    const { admin, topics } = instance;
    await alterScoreTopic({});
    await admin.createPartitions({ topicPartitions: [{ topic: topics.scoreEvents, count: 3 }] });
    const added = [3, 'partitions added'];
    const one = [1, 'ok'];
    expect(await reports()).toEqual([[3, 'ok'], added, added, one, added, one]);
  });
});
