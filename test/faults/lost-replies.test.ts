import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance } from '../support/instance.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PLAYERS = 20;
const LOSSES = 10;

/** An apply call: a script, and players in it. */
const isApplyCall = (request: Buffer) => request.includes('evalsha') && request.includes('player-');

describe('ingest whose apply calls are executed, but their replies lost', () => {
  let instance: TestInstance;
  let proxy: TcpProxy;
  let producer: ScoreProducer;
  beforeEach(async () => {
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
    instance = await TestInstance.create(BOARDS, {
      partitions: 2,
      env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
    });
    producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
  });
  afterEach(async () => {
    await producer.disconnect();
    await instance.remove();
    await proxy.close();
  });

  it('counts each score once and publishes each result once', async () => {
    const service = await instance.start();
    let sent = 0;
    const produce = async () => {
      const players = Array.from({ length: PLAYERS }, (_, index) => `player-${index}`);
      await producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
      sent += PLAYERS;
    };
    for (let loss = 1; loss <= LOSSES; loss++) {
      await produce();
      await instance.published(sent);
      proxy.dropReplies(isApplyCall);
      while (proxy.droppedReplies < loss) {
        await produce();
        await delay(5);
      }
      proxy.restore();
    }
    await instance.published(sent);
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([sent, sent]);
    expect(brokenChains(changes)).toEqual([]);
    const ids = await consoleConsumerIds(instance.topics.rankChanges, sent);
    expect([new Set(ids).size, ids.length]).toEqual([sent, sent]);
    const { entries } = await instance.reader.standings('arena', 'all', { offset: 0, limit: 100 });
    expect(new Set(entries.map(({ columns }) => columns['score']))).toEqual(
      new Set([String(sent / PLAYERS)]),
    );
    expect(service.exitCode).toBeNull();
  });
});
