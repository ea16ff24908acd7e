import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { ScoreProducer } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const PLAYERS = Array.from({ length: 20 }, (_, index) => `player-${index}`);

async function get(service: RanklogProcess, path: string): Promise<string> {
  const url = /health and metrics at ([^"]+)/.exec(service.errors)?.[1] ?? 'nowhere';
  return (await fetch(url + path)).text();
}

/** Those of the metrics of partitions that are not 0, of what they wait for and whether they have stopped. */
async function told(...services: RanklogProcess[]): Promise<string[]> {
  const texts = await Promise.all(services.map((service) => get(service, '/metrics')));
  return texts.flatMap((text) => text.match(/^ranklog_partition_(waiting|stopped)\{.* 1$/gm) ?? []);
}

describe('a partition that waits', () => {
  let instance: TestInstance;
  let keys: KeySpace;
  let service: RanklogProcess;

  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    keys = new KeySpace(instance.name);
    service = await instance.start();
    await produce();
    await instance.published(PLAYERS.length);
  });
  afterEach(() => instance.remove());

  /** An event of each player: both partitions have some. */
  const produce = async () => {
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    await producer.send(PLAYERS.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    await producer.disconnect();
  };
  const said = (words: string) => until(() => service.errors.includes(words), `it says: ${words}`);

  it('for others that recover is told by metrics and health until they have, as no problem', async () => {
    await instance.redis.hset(keys.recoveryTargets(0), '0', '5000');
    await produce();
    const lines = [0, 1].map(
      (partition) => `ranklog_partition_waiting{partition="${partition}",reason="recovering"} 1`,
    );
    await until(async () => (await told(service)).length === 2, 'it is told');
    expect(await told(service)).toEqual(lines);
    expect(JSON.parse(await get(service, '/health'))).toMatchObject({
      status: 'ok',
      partitions: [{ waitsFor: 'recovering' }, { waitsFor: 'recovering' }],
    });
    for (const partition of [0, 1]) await said(`/${partition} waits until others`);
    await instance.redis.del(keys.recoveryTargets(0));
    await instance.published(2 * PLAYERS.length);
    expect(await told(service)).toEqual([]);
  });
});
