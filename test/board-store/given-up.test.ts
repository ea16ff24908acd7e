import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BoardReader,
  GenerationCatalog,
  GenerationStore,
  LeaseStore,
  UnknownBoardError,
  UnknownGenerationError,
} from '#board-store';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { order } from './order.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const EVENTS = [scored('a', [3]), scored('b', [5])];

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
  await fixture.apply(EVENTS);
});

/** Builds the board again; what was live is given up at once, and its memory is given back, or is to be. */
async function replace({ isSwept }: { isSwept: boolean }): Promise<void> {
  const { keys } = fixture;
  const generations = new GenerationStore(redis, keys, { shards: 1 });
  const lease = await new LeaseStore(redis, keys, { shards: 1 }).acquire('arena', 'test');
  const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
  await order(generations, lease, shadow);
  expect(await generations.flip(lease, shadow, [stretchOf(EVENTS)], { graceMs: 0 })).toMatchObject({
    ending: {},
  });
  await redis.del(keys.lease(0, 'arena'));
  const catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  if (isSwept) while ((await catalog.sweep()) > 0);
  else await redis.ranklogExpirePrevious(2, keys.previous(0), keys.discarded(0));
}

/** A reader whose commands of these names come late: `meanwhile` is done first. */
function lateReader(late: readonly string[], meanwhile: () => Promise<void>, generation?: string) {
  const slow = new Proxy(redis, {
    get(target, name) {
      const command: unknown = Reflect.get(target, name);
      if (typeof command !== 'function') return command;
      const run = (...args: unknown[]): unknown => Reflect.apply(command, target, args);
      if (!late.includes(String(name))) return run;
      return async (...args: unknown[]) => {
        await meanwhile();
        return run(...args);
      };
    },
  });
  return new BoardReader(slow, fixture.keys, generation);
}

function once(work: () => Promise<void>, call = 1): () => Promise<void> {
  let calls = 0;
  return async () => {
    if (++calls === call) await work();
  };
}

describe.each([true, false])(
  'a generation that is given up while it is read (swept: %s)',
  (isSwept) => {
    const late = (...names: string[]) =>
      lateReader(
        names,
        once(() => replace({ isSwept })),
      );

    it('is no empty board: the page, rank and views of the next one are read', async () => {
      const { entries } = await late('ranklogPage').standings('arena', 'all', {
        offset: 0,
        limit: 9,
      });
      expect(entries.map(({ playerId, rank }) => [playerId, rank])).toEqual([['b', 1], ['a', 2]]); // prettier-ignore
      const { entries: found } = await late('ranklogRank').rank('arena', 'all', 'a');
      expect(found).toMatchObject([{ playerId: 'a', rank: 2 }]);
      expect(await late('ranklogViews').views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
    });

    it('shortens no list of views: their sizes are read again, of the next one', async () => {
      expect(await late('zcard').views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
    });

    it('is looked for again where its definition went after its pointer was read', async () => {
      const afterPointer = () =>
        lateReader(
          ['hget'],
          once(() => replace({ isSwept }), 2),
        );
      const before = fixture.live.generation;
      const { generation } = await afterPointer().liveBoard('arena');
      expect(generation === before).toBe(!isSwept);
      expect(await afterPointer().rank('arena', 'all', 'a')).toMatchObject({
        entries: [{ playerId: 'a', rank: 2 }],
      });
    });

    it('is told where all are given up, and nothing is read without end', async () => {
      const always = lateReader(['ranklogPage'], () => replace({ isSwept }));
      const reading = always.standings('arena', 'all', { offset: 0, limit: 9 });
      await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
    });
  },
);

describe('a board', () => {
  it('whose pointer leads to no definition, however often it is read, is unknown', async () => {
    await redis.del(fixture.keys.definitions(0));
    const reading = fixture.reader().liveBoard('arena');
    await expect(reading).rejects.toBeInstanceOf(UnknownBoardError);
  });
});

describe('a snapshot that is given up while it is read', () => {
  it('is unknown', async () => {
    const { generation } = fixture.live;
    await redis.hset(fixture.keys.snapshots(0), generation, 'arena');
    const discard = async () => {
      await redis.sadd(fixture.keys.discarded(0), generation);
    };
    const reading = lateReader(['ranklogRank'], discard, generation).rank('arena', 'all', 'a');
    await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
  });
});
