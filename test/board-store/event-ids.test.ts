import { afterAll, describe, expect, it } from '@jest/globals';
import type { ResolvedEvent } from '#board';
import { arena, movements, scored, StoreFixture, T0 } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

describe('event ids older than the span', () => {
  it('are ignored, and deleted some at a time, so a clock that jumps ahead does not block Redis', async () => {
    const span = 60_000;
    const definition = { ...arena, deduplicateMs: span };
    const fixture = await new StoreFixture(redis, newKeys()).register(definition);
    const key = fixture.keys.eventIds(0, fixture.live.generation, 0);
    const event = (eventId: string, occurredAt: number): ResolvedEvent =>
      scored('a', [1], { eventId, occurredAt });
    await fixture.apply([event('first', T0)]);
    const old = Array.from({ length: 30_000 }, (_, index) => [T0 + 1, `e-${index}\na`]).flat();
    await redis.zadd(key, ...old);

    const later = ['first', 'e-29999', 'e-29999'].map((id) => event(id, T0 + 2 * span));
    const verdicts = await fixture.apply(later, { from: 1 });
    expect(movements(verdicts)).toEqual(['1 (1) -> 1 (1)', '1 (1) -> 1 (1)']);
    const left = [await redis.zcard(key)];
    for (let offset = 4; (left.at(-1) ?? 0) > 100; offset++) {
      await fixture.apply([event(`later-${offset}`, T0 + 2 * span)], { from: offset });
      left.push(await redis.zcard(key));
    }
    // Each call but the last deletes 5,000 ids and adds its own.
    expect(left).toEqual([25_001, 20_002, 15_003, 10_004, 5_005, 7]);
  });
});
