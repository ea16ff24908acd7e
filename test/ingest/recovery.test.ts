import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BoardReader, ContinuityStore, KeySpace } from '#board-store';
import { ScoreProducer } from '#client';
import type { RankChange } from '#contracts';
import { TestInstance, until } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';
import { brokenChains, causeOf, readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const PLAYERS = Array.from({ length: 20 }, (_, index) => `player-${index}`);

async function restore(own: RedisServer): Promise<void> {
  await own.kill();
  await own.startFromSnapshot();
}

describe('when Redis', () => {
  let own: RedisServer;
  let instance: TestInstance;
  let reader: BoardReader;
  let continuity: ContinuityStore;
  let sent = 0;

  beforeEach(async () => {
    sent = 0;
    own = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${own.port}` };
    instance = await TestInstance.create(BOARDS, { partitions: 2, env });
    reader = new BoardReader({ redis: own.redis, prefix: instance.name });
    continuity = new ContinuityStore(own.redis, new KeySpace(instance.name), { shards: 1 });
  });
  afterEach(async () => {
    await instance.remove();
    await own.remove();
  });

  const score = async (players: readonly string[], delta: number) => {
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    await producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta })));
    await producer.disconnect();
    sent += players.length;
  };
  const results = () => readRankChanges(instance.kafka, instance.topics);
  const playersOf = (changes: readonly RankChange[], partition: number) =>
    changes.filter(({ source }) => source.partition === partition).map(({ playerId }) => playerId);

  it.each<[string, string[], (own: RedisServer) => Promise<unknown>]>([
    ['is restarted with an older snapshot', ['ingest,reconciliation', 'ingest'], restore],
    ['is emptied', ['reconciliation', 'ingest'], ({ redis }) => redis.flushall()],
  ])(
    '%s, the only busy partition computes no rank before all have recovered, although it may not notice the loss; processes with the roles %j',
    async (_, processes, lose) => {
      for (const roles of processes) await instance.start('--roles', roles);
      await score(PLAYERS, 10);
      await instance.published(sent);
      // After the snapshot, only partition 0 gets events. So partition 1 loses none with the
      // snapshot, and may not notice.
      const first = await results();
      const [lost, kept] = [playersOf(first, 0), playersOf(first, 1)];
      await own.snapshot();
      await score(lost, 1_000);
      await instance.published(sent);

      await lose(own);
      const [player = ''] = kept;
      await score([player], 5);
      await instance.published(sent);

      const changes = await results();
      const last = changes.filter(({ playerId }) => playerId === player).at(-1);
      expect(last?.changes[0]?.after).toMatchObject({
        rank: lost.length + 1,
        columns: { points: '15' },
      });
      expect(changes).toHaveLength(sent);
      expect(new Set(changes.map(causeOf)).size).toBe(sent);
      expect(brokenChains(changes)).toEqual([]);
      await until(
        async () => (await continuity.recoveryTargets()).length === 0,
        'all is recovered',
      );
      const { entries, stale } = await reader.standings('arena');
      expect(stale).toBe(false);
      expect(entries.map(({ columns }) => columns['points'])).toEqual([
        ...lost.map(() => '1010'),
        '15',
        ...kept.slice(1).map(() => '10'),
      ]);
    },
  );

  it('has lost events and no process runs, reads are stale until the events are applied again', async () => {
    const service = await instance.start();
    await score(PLAYERS, 10);
    await instance.published(sent);
    await own.snapshot();
    await score(PLAYERS, 1);
    await instance.published(sent);
    service.kill('SIGKILL');
    await service.ended;
    await restore(own);
    const top = () => reader.standings('arena', { view: 'all', limit: 1 });
    expect(await top()).toMatchObject({ stale: true, entries: [{ columns: { points: '10' } }] });
    const standings = instance.spawn('standings', 'arena', '--json');
    expect(await standings.ended).toBe(5);
    expect(standings.errors).toContain('stale: Redis was restarted or replaced');
    expect(JSON.parse(standings.output)).toMatchObject({ stale: true });

    const again = await instance.start();
    await until(async () => !(await top()).stale, 'reads are current again');
    expect(await top()).toMatchObject({ stale: false, entries: [{ columns: { points: '11' } }] });
    expect(again.errors).toMatch(
      /shard 0 has lost events whose results are published; .*partition 0 \(\d+ of \d+\), 1 \(/,
    );
    const hasRecovered = () => again.errors.match(/shard 0 has recovered/g)?.length;
    await until(() => hasRecovered() !== undefined, 'the recovery is logged');
    const status = JSON.parse(await instance.run('status', '--json')) as { recovering: object[] };
    expect(status.recovering).toEqual([]);
    expect(await results()).toHaveLength(sent);
    await score(PLAYERS, 1);
    await instance.published(sent);
    expect(hasRecovered()).toBe(1);
  });
});
