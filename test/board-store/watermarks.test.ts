import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  GenerationStore,
  keptRecord,
  LeaseLostError,
  LeaseStore,
  WatermarkStore,
  type Lease,
  type Shadow,
} from '#board-store';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { order } from './order.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const record = (offset: number) => ({ offset, timestamp: 1_000 + offset, hash: `h${offset}` });
const points = (count: number) => Array.from({ length: count }, () => scored('a', [1]));

let fixture: StoreFixture;
let watermarks: WatermarkStore;
let lease: Lease;
let key: string;

/** Five events at offsets 0 to 4 are applied, and two markers behind them. */
async function begin() {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
  await fixture.apply(points(5), { lastRecord: record(4), through: 6 });
  watermarks = new WatermarkStore(redis, fixture.keys, { shards: 1 });
  lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
  key = fixture.keys.watermarks(0);
}
beforeEach(begin);

const apply = async (from: number, count: number) => {
  const last = from + count - 1;
  const fields = { from, believed: -1, lastRecord: record(last) };
  return (await fixture.store.apply(fixture.call(points(count), fields))).status;
};
const state = () => redis.hget(fixture.keys.players(0, fixture.live.generation, 'all'), 'a');

describe('a watermark that is not that of the last applied record', () => {
  it.each([
    ['over a record that was not applied', '9', 7],
    ['over the last one of a run', '7', 6],
    ['below what was applied', '2', 3],
    ['to no number', 'x', 7],
    ['to no offset', '6.5', 7],
    ['below all offsets', '-2', 0],
  ])('moved %s refuses the calls that it would mislead', async (_, moved, from) => {
    await redis.hset(key, '0', moved);
    const before = await dumpKeys(redis, fixture.keys);
    expect(await apply(from, 2)).toBe('watermarkMoved');
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('that is gone refuses them, too', async () => {
    await redis.hdel(key, '0');
    expect(await apply(0, 2)).toBe('watermarkMoved');
    const idle = fixture.call([], { believed: -1, through: -1 });
    expect(await fixture.store.apply(idle)).toEqual({ status: 'watermarkMoved' });
  });

  it('refuses a run that has a record there, though none of its entries is about the shard', async () => {
    await redis.hset(key, '0', '9');
    const call = fixture.call([], { from: 7, believed: -1, through: 8, lastRecord: record(8) });
    expect(await fixture.store.apply(call)).toEqual({ status: 'watermarkMoved' });
  });

  const registerLate = async () => {
    const { building } = await fixture.store.registerBoards([arena, { ...arena, board: 'late' }]);
    return [...building];
  };

  it('that is gone lets no new board begin without what was applied', async () => {
    await redis.del(key);
    expect(await registerLate()).toEqual(['late']);
  });

  it('that is no number lets none begin either, though the last records are gone, too', async () => {
    await redis.hset(key, '0', 'far');
    await redis.del(fixture.keys.records(0));
    expect(await registerLate()).toEqual(['late']);
  });

  it('is none behind markers, for what is read again, and for runs without records', async () => {
    expect(await apply(0, 5)).toBe('applied');
    expect(await apply(3, 2)).toBe('applied');
    await fixture.apply([], { from: 7, believed: 6, through: 8 });
    expect(await apply(9, 2)).toBe('applied');
    expect(await apply(10, 3)).toBe('applied');
    expect(await state()).toMatch(/^-9@/);
  });
});

describe('a shadow that is built while a watermark is moved', () => {
  let generations: GenerationStore;
  let shadow: Shadow;
  const GRACE = { graceMs: 60_000 };
  const stretch = (from: number, count: number) => [stretchOf(points(count), { from })];
  beforeEach(async () => {
    generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
    shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    await generations.catchUp(lease, shadow, stretch(0, 3));
    await order(generations, lease, shadow);
  });

  it.each([
    ['over what was not applied', '9'],
    ['back', '3'],
    ['to no number', 'x'],
    ['to nowhere', undefined],
  ])('%s does not follow it, and does not go live', async (_, moved) => {
    if (moved === undefined) await redis.del(key);
    else await redis.hset(key, '0', moved);
    const before = await dumpKeys(redis, fixture.keys);
    const refused = { status: 'watermarkMoved' };
    expect(await generations.catchUp(lease, shadow, stretch(3, 7))).toEqual(refused);
    expect(await generations.flip(lease, shadow, stretch(3, 7), GRACE)).toEqual(refused);
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('goes live where only markers lie between the last record and the watermark', async () => {
    const flip = await generations.flip(
      lease,
      shadow,
      [{ ...stretch(3, 2)[0]!, through: 8 }],
      GRACE,
    );
    expect(flip).toMatchObject({ status: 'applied', ending: { previous: expect.anything() } });
  });
});

/** What is kept, of a log that has the last records. */
const seen = async () =>
  (await watermarks.kept('arena')).map((kept) => {
    const record = keptRecord(kept.record);
    return { ...kept, ...(record && { lastOffset: record.offset }) };
  });

describe('mending watermarks', () => {
  it('sets them back to what was applied last, so that nothing is lost or counted twice', async () => {
    for (const moved of ['9', '2', 'x']) {
      await redis.hset(key, '0', moved);
      expect(await watermarks.mend(lease, await seen())).toEqual([6]);
      const { isContinued } = await fixture.continuity.continuity(0);
      expect(isContinued).toBe(moved !== '9');
      if (!isContinued) await fixture.compare();
      expect(await apply(0, 5)).toBe('applied');
      expect(await state()).toMatch(/^-5@/);
      expect(await apply(7, 2)).toBe('applied');
      expect(await state()).toMatch(/^-7@/);
      await begin();
    }
  });

  it('leaves what has changed since it was seen, and the other partitions', async () => {
    await redis.hset(key, { 0: '9', 1: '3' });
    const [first] = await seen();
    expect(first).toMatchObject({ partition: 0, watermark: '9', record: '4 1004 h4' });
    await redis.hset(key, '0', '8');
    expect(await watermarks.mend(lease, [first!])).toEqual([8]);
    expect(await redis.hgetall(key)).toEqual({ 0: '8', 1: '3' });
  });

  it('without a last record goes back to what is published, or in the outbox', async () => {
    await redis.hset(key, '0', '99');
    await redis.hdel(fixture.keys.records(0), '0');
    expect(await watermarks.mend(lease, await seen())).toEqual([6]);
    await redis.del(fixture.keys.outbox(0, 0));
    await redis.hset(fixture.keys.published(0), '0', '3');
    expect(await watermarks.mend(lease, await seen())).toEqual([2]);
  });

  it('without a last record goes back to what is in the outbox while what is published is applied once more', async () => {
    await redis.hset(key, '0', '99');
    await redis.hset(fixture.keys.records(0), '0', 'x');
    await redis.hset(fixture.keys.published(0), '0', '50');
    await redis.hset(fixture.keys.healing(0), '0', '50');
    expect(await watermarks.mend(lease, await seen())).toEqual([6]);
    expect(await redis.hget(fixture.keys.records(0), '0')).toBeNull();
  });

  it('believes a record, not what is published', async () => {
    await redis.hset(key, '0', '99');
    await redis.hset(fixture.keys.published(0), '0', '50');
    expect(await watermarks.mend(lease, await seen())).toEqual([6]);
    expect(await redis.hget(fixture.keys.records(0), '0')).toBe('4 1004 h4');
  });

  it('lets go of shadows, which may have followed', async () => {
    await redis.hset(key, '0', '9');
    await redis.hset(fixture.keys.shadows(0), { arena: 's build', other: 'p restore 7' });
    await watermarks.mend(lease, await seen());
    expect(await redis.hgetall(fixture.keys.shadows(0))).toEqual({});
    expect(await redis.smembers(fixture.keys.discarded(0))).toEqual(['s']);
    expect(await redis.hget(fixture.keys.previous(0), 'other')).toBe('p 7');
  });

  it('needs the lease', async () => {
    await redis.hset(key, '0', '9');
    const before = await dumpKeys(redis, fixture.keys);
    const other = { ...lease, token: 'other' };
    const mending = watermarks.mend(other, await seen());
    await expect(mending).rejects.toBeInstanceOf(LeaseLostError);
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });
});
