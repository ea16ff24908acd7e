import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import CRC32 from 'crc-32';
import { ScoreProducer } from '#client';
import { encodeRankChange } from '#contracts';
import { partitionOf } from '#kafka-batch';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { transactionalProducer, transactionsEnded } from '../support/kafka-client.js';
import { readRankChanges } from '../support/results.js';
import { readSnippets, SnippetFolder, type Snippet } from './snippets.js';
import { toolOr, type Tool } from './tools.js';

const BOARDS = `
boards:
  arena: { columns: [{ name: points }] }
  once: { columns: [{ name: points }], deduplicate: 24h }
`;
const PARTITIONS = 4;

const python = await toolOr('python');
const tools: Record<string, Tool | undefined> = {
  "Nest's Kafka transport": { command: process.execPath, args: [] },
  'kafka-python': python,
  'confluent-kafka': python,
  Java: await toolOr('java'),
  kcat: await toolOr('kcat'),
  curl: await toolOr('curl'),
};
const snippets = readSnippets();
const folder = new SnippetFolder();
let instance: TestInstance;
let service: RanklogProcess;

beforeAll(async () => {
  const env = { RANKLOG_QUERY_WRITES: 'true' };
  instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS, env });
  await abortRankChanges();
  service = await instance.start();
});
afterAll(async () => {
  await instance.remove();
  folder.remove();
});

/**
 * Leaves a rank change of an aborted transaction at the start of each partition, as a process that
 * dies does.
 */
async function abortRankChanges(): Promise<void> {
  const { kafka, name, topics } = instance;
  const source = { topic: topics.scoreEvents, partition: 0, offset: 0 };
  const occurredAt = '2026-11-20T09:00:00.000Z';
  const { value } = encodeRankChange(
    { board: 'arena', generation: 'g', playerId: 'aborted', source, occurredAt },
    '[{"view":"all","version":1,"before":null,"after":{"rank":1,"columns":{"points":"1"}}}]',
  );
  const producer = transactionalProducer(kafka, name);
  await producer.connect();
  const transaction = await producer.transaction();
  const messages = Array.from({ length: PARTITIONS }, (_, partition) => ({
    ...{ partition, key: 'aborted', value },
  }));
  await transaction.send({ topic: topics.rankChanges, messages });
  await transaction.abort();
  await producer.disconnect();
  await transactionsEnded(kafka, name);
}

/** The partition that librdkafka chooses by default. */
const crc32Of = (key: string) => (CRC32.str(key) >>> 0) % PARTITIONS;

/** A player whose events librdkafka would put into another partition by default. */
function newPlayer(): string {
  for (;;) {
    const playerId = `p-${randomUUID().slice(0, 8)}`;
    if (crc32Of(playerId) !== partitionOf(playerId, PARTITIONS)) return playerId;
  }
}

/** A snippet for the test's own ranklog and a player of its own. */
function adapted({ language, code }: Snippet, playerId: string): Snippet {
  const { topics } = instance;
  const replaced = code
    .replaceAll('ranklog.score-events', topics.scoreEvents)
    .replaceAll('ranklog.rank-changes', topics.rankChanges)
    .replaceAll('localhost:9092', process.env['KAFKA_BROKERS'] ?? '')
    .replaceAll('http://127.0.0.1:9464', service.url)
    .replaceAll('my-service', `${instance.name}-${randomUUID()}`)
    .replaceAll(/\bada\b/g, playerId);
  return { language, code: replaced };
}

describe('docs/clients.md', () => {
  it('has a program in each section', () => {
    expect([...snippets.keys()]).toEqual(Object.keys(tools));
    expect([...snippets.values()].map(({ code }) => code)).not.toContain('');
  });

  it.each([...snippets].filter(([name]) => tools[name] !== undefined))(
    'has a program for %s that sends an event to the right partition, and sees no aborted results',
    async (name, snippet) => {
      const playerId = newPlayer();
      const output = await folder.runUntil(playerId, adapted(snippet, playerId), tools[name]!);
      expect(output).not.toContain('aborted');

      const changes = await readRankChanges(instance.kafka, instance.topics);
      const own = changes.filter((change) => change.playerId === playerId);
      expect(own).toMatchObject([
        {
          source: { partition: partitionOf(playerId, PARTITIONS) },
          changes: [{ after: { columns: { points: '10' } } }],
        },
      ]);
    },
  );
});

(python === undefined ? describe.skip : describe)('the partitioner of librdkafka', () => {
  /** Sends a value for each key. Returns the partitions. */
  async function partitions(keys: readonly string[], value: string, settings: object) {
    const code = `
import json
from confluent_kafka import Producer

found = {}
producer = Producer({"bootstrap.servers": "${process.env['KAFKA_BROKERS'] ?? ''}", **${JSON.stringify(settings)}})
for key in ${JSON.stringify(keys)}:
    producer.produce(
        "${instance.topics.scoreEvents}", key=key, value=${JSON.stringify(value)}.replace("KEY", key),
        on_delivery=lambda error, message: found.update({message.key().decode(): message.partition()}),
    )
producer.flush()
print(json.dumps([found[key] for key in ${JSON.stringify(keys)}]), "sent")
`;
    const printed = await folder.runUntil('sent', { language: 'py', code }, python!);
    return JSON.parse(printed.replace('sent', '')) as number[];
  }

  const event = JSON.stringify({ board: 'once', playerId: 'KEY', delta: 1, eventId: 'e-1' });
  const murmur2 = { partitioner: 'murmur2_random' };

  it('is CRC32 by default, which most keys put into another partition than ranklog expects', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    const expected = keys.map((key) => partitionOf(key, PARTITIONS));
    const byDefault = await partitions(keys, event, {});
    expect(byDefault).toEqual(keys.map(crc32Of));
    const moved = byDefault.filter((partition, index) => partition !== expected[index]);
    expect(moved.length).toBeGreaterThan(keys.length / 2);
    expect(await partitions(keys, event, murmur2)).toEqual(expected);
  });

  it.each([
    ['twice by default', {}, '2'],
    ['once with murmur2_random', murmur2, '1'],
  ])('makes an event that ScoreProducer has sent before count %s', async (_, settings, points) => {
    const playerId = newPlayer();
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.send({ board: 'once', playerId, delta: 1, eventId: 'e-1' });
    await producer.disconnect();
    await partitions([playerId], event, settings);

    await until(async () => (await lag()) === 0, 'all events are applied');
    const { standing } = await instance.reader.player('once', playerId);
    expect(standing?.columns).toEqual({ points });
  });

  /** How many records of the score topic are not applied yet. */
  async function lag(): Promise<number> {
    const ends = await instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    const written = ends.reduce((sum, { offset }) => sum + Number(offset), 0);
    return written - (await instance.publishedCount());
  }
});
