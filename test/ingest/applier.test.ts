import { afterAll, describe, expect, it } from '@jest/globals';
import { definitionText, type BoardDefinition } from '#board';
import { BoardReader } from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import { Applier } from '../../src/ingest/applier.js';
import { LiveBoards } from '../../src/ingest/live-boards.js';
import { FULL_CALL } from '../../src/ingest/split-calls.js';
import { arena, StoreFixture, T0, pointTo } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { NEVER_WAITS } from './never-waits.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** Each event gives a point to a player of its own. */
function recordsOf(count: number): KafkaRecord[] {
  return Array.from({ length: count }, (_, offset) => ({
    offset,
    timestamp: T0,
    key: null,
    value: Buffer.from(JSON.stringify({ board: 'arena', playerId: `p${offset}`, delta: '1' })),
    headers: {},
  }));
}

describe('a batch of several runs', () => {
  it('is read anew when another partition meets a new generation between them', async () => {
    const fixture = await new StoreFixture(redis, newKeys()).register(arena);
    const { store, keys } = fixture;
    const boards = new LiveBoards(store, () => Promise.resolve());
    await boards.refresh();
    const makeLive = async (generation: string, definition: BoardDefinition) => {
      await redis.hset(keys.definitions(0), generation, definitionText(definition));
      await pointTo(redis, keys.live(0), 'arena', generation);
    };
    const columns = [{ name: 'points', update: 'sum', order: 'asc', decimals: 2 }] as const;

    const start = { appliedOffsets: [-1], offset: 0, continuity: [fixture.token] };
    const applier = new Applier({ store, boards }, 0, start, NEVER_WAITS);
    const nextOffset = FULL_CALL.entries + 2;
    let runs = 0;
    await applier.apply(recordsOf(nextOffset), { from: 0, published: 0, nextOffset }, async () => {
      if (++runs > 1) return;
      await makeLive('next', { ...arena, columns });
      await boards.refresh(); // as another partition does
    });

    const reader = new BoardReader(redis, keys);
    const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 9 });
    expect(runs).toBe(2);
    expect(entries.map(({ columns }) => columns)).toEqual([{ points: '1.00' }, { points: '1.00' }]);
  });
});
