import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { BoardReader } from '#board-store';
import { ScoreProducer } from '#client';
import { startRanklog, type RunningRanklog } from '#testing';
import { testKafka } from '../support/kafka-client.js';

const boards = 'boards: { quiz: { columns: [{ name: points }] } }';
const { KAFKA_BROKERS = '', REDIS_URL = '' } = process.env;

let ranklog: RunningRanklog;
beforeAll(async () => {
  ranklog = await startRanklog({ boards });
});
afterAll(() => ranklog.stop());

/** The topics and keys that begin with a prefix. */
async function remains(prefix: string) {
  const admin = testKafka({ brokers: KAFKA_BROKERS.split(',') }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  await admin.disconnect();
  const redis = new Redis(REDIS_URL);
  const keys = await redis.keys(`${prefix}:*`);
  redis.disconnect();
  return { topics: topics.length, keys: keys.length };
}

describe('startRanklog', () => {
  it('starts a ranklog that applies events, and answers over HTTP', async () => {
    const { clients, url } = ranklog;
    const producer = new ScoreProducer(clients);
    const event = { board: 'quiz', playerId: 'ada', delta: 5 };
    const { status } = await producer.sendAndWait(event, { timeoutMs: 60_000 });
    await producer.disconnect();
    expect(status).toBe('ranked');
    const reader = new BoardReader({ redis: clients.redis, prefix: clients.redisPrefix });
    expect(await reader.count('quiz')).toBe(1);
    const answer = await fetch(`${url}/v1/boards/quiz/standings`);
    expect(await answer.json()).toMatchObject({ entries: [{ playerId: 'ada', rank: 1 }] });
  });

  it('has topics and keys of its own, which it deletes at the end, and takes settings', async () => {
    const settings = { RANKLOG_PARTITIONS: '1' };
    const other = await startRanklog({ boards, settings });
    const { topicPrefix } = other.clients;
    expect(topicPrefix).not.toBe(ranklog.clients.topicPrefix);
    expect(other.clients.groupId).toBe(`${topicPrefix}-service`); // not that of its ingest
    const { env } = other;
    expect(env).toMatchObject({ ...settings, RANKLOG_TOPIC_PREFIX: topicPrefix, KAFKA_BROKERS });
    expect(await remains(topicPrefix)).toEqual({ topics: 6, keys: expect.any(Number) });
    await other.stop();
    await other.stop(); // does nothing
    expect(await remains(topicPrefix)).toEqual({ topics: 0, keys: 0 });
    await expect(fetch(other.url)).rejects.toThrow();
    expect(existsSync(env['RANKLOG_BOARDS'] ?? '')).toBe(false);
  });

  it('says why ranklog does not start, and leaves nothing behind', async () => {
    const started = startRanklog({ boards: 'boards: { quiz: { columns: [] } }' });
    await expect(started).rejects.toThrow(
      /^ranklog start has ended with \d+; the end of its log:\n[\s\S]*board "quiz"/,
    );
  });

  it('says that the topics were not ready in time', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const settings = { KAFKA_BROKERS: `127.0.0.1:${port}` };
    const started = startRanklog({ boards, settings, timeoutMs: 500 });
    await expect(started.finally(() => silent.close())).rejects.toThrow(
      /^ranklog topics is not ready within timeoutMs;/,
    );
  });
});
