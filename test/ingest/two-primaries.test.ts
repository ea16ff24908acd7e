import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { BoardStore } from '#board-store';
import type { RankChange } from '#contracts';
import { ResultLog } from '../../src/ingest/result-log.js';
import { eventually } from '../support/eventually.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';
import { BOARDS, expectRankChanges, ScoreTopic } from './score-topic.js';

const PARTITIONS = 4;
const REPLACED = 'is on a Redis server that another one has replaced';

let first: RedisServer;
let second: RedisServer;
let instance: TestInstance;
let log: ScoreTopic;
beforeEach(async () => {
  first = await RedisServer.start();
  second = await RedisServer.start('--replicaof', '127.0.0.1', String(first.port));
  instance = await TestInstance.create(BOARDS, { partitions: PARTITIONS });
  log = new ScoreTopic(instance);
});
afterEach(async () => {
  await instance.remove();
  await first.remove();
  await second.remove();
});

/** Starts a process on a server of Redis. */
function startOn({ port }: RedisServer): Promise<RanklogProcess> {
  instance.env['REDIS_URL'] = `redis://127.0.0.1:${port}`;
  return instance.start();
}

/** How many events were sent. */
let sent = 0;
beforeEach(() => {
  sent = 0;
});

/** Sends an event to each partition. No sum of these deltas is equal to another one. */
async function sendToEach(): Promise<void> {
  for (let partition = 0; partition < PARTITIONS; partition++)
    await log.send(partition, [`player-${partition}`], 2 ** (40 - sent++));
}

/** The ranks that a result names, and those that plain code computes in the order of versions. */
function ranksAndExpected(changes: readonly RankChange[]): [string[], string[]] {
  const points = new Map<string, number>();
  const rankOf = (player: string) => {
    const own = points.get(player);
    return own === undefined ? 0 : [...points.values()].filter((other) => other >= own).length;
  };
  const found: string[] = [];
  const expected: string[] = [];
  const moves = changes
    .flatMap(({ playerId, changes: [move] }) => (move === undefined ? [] : { playerId, ...move }))
    .sort((one, other) => one.version - other.version);
  for (const { playerId, version, before, after } of moves) {
    const rankBefore = rankOf(playerId);
    points.set(playerId, Number(after?.columns['score']));
    found.push(`${version} ${playerId} ${before?.rank ?? 0} ${after?.rank ?? 0}`);
    expected.push(`${version} ${playerId} ${rankBefore} ${rankOf(playerId)}`);
  }
  return [found, expected];
}

async function expectRightRanks(): Promise<void> {
  const [found, expected] = ranksAndExpected(await expectRankChanges(instance, sent));
  expect(found).toEqual(expected);
}

it('resyncs of two servers at a time fence each other, and both commit when their servers were compared', async () => {
  const { kafka, admin, topics, name } = instance;
  const store = { publishedPositions: () => Promise.resolve(new Map()) } as BoardStore;
  const open = () => new ResultLog({ kafka, admin, topics }, { group: name }, store);
  const logs = [open(), open(), open()];
  await log.send(0, ['a']);
  const times = [[5, 1], [3, 7], [4, 4]]; // prettier-ignore
  const positions = await Promise.all(
    logs.map((each, index) => each.finalPositions(times[index]!)),
  );
  for (const each of positions) expect([...each.values()]).toEqual([0, 0, 0, 0]);
  expect(await open().newestContinuity()).toEqual([5, 7]);
});

it('of two servers that act as primary, only the newer one gets results, also if a process returns to the older one', async () => {
  const old = await startOn(first);
  await sendToEach();
  await instance.published(sent);
  await eventually(
    async () => (await second.redis.info('replication')).includes('master_link_status:up'),
    'the replica is in step',
  );
  expect(await first.redis.wait(1, 10_000)).toBe(1);
  await second.redis.replicaof('NO', 'ONE');

  const next = await startOn(second);
  await until(() => next.errors.includes('compared shard 0'), 'the new server is in use');
  await until(() => old.errors.includes(REPLACED), 'the process on the old server says so');
  await sendToEach();
  await sendToEach();
  old.kill('SIGTERM');
  await old.ended;
  await instance.published(sent);
  await expectRightRanks();

  next.kill('SIGTERM');
  await next.ended;
  const returned = await startOn(first);
  await sendToEach();
  await until(() => returned.errors.includes(REPLACED), 'a return to the old server is refused');
  expect(await instance.publishedCount()).toBe(sent - PARTITIONS);
  await first.kill();
  // It has lost nothing, but that is not known: the process compares it with Kafka
  await first.start();
  await instance.published(sent);
  await expectRightRanks();
}, 200_000);
