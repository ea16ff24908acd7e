import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { NoSuchViewError, type BoardDefinition } from '#board';
import {
  BoardReader,
  GenerationCatalog,
  GenerationStore,
  LeaseStore,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from '#board-store';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { lateClient, once, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const EVENTS = [scored('a', [3]), scored('b', [5])];

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
  await fixture.apply(EVENTS);
});

interface Replacement {
  readonly isSwept: boolean;
  readonly definition?: BoardDefinition;
}

/** Builds the board again; what was live is given up at once, and its memory is given back, or is to be. */
async function replace({ isSwept, definition = arena }: Replacement): Promise<void> {
  const { keys } = fixture;
  const generations = new GenerationStore(redis, keys, { shards: 1 });
  const lease = await new LeaseStore(redis, keys, { shards: 1 }).acquire('arena', 'test');
  const shadow = await generations.begin(lease, { definition, purpose: 'build' });
  expect(
    await generations.promote(lease, shadow, [stretchOf(EVENTS)], { graceMs: 0 }),
  ).toMatchObject({
    ending: {},
  });
  await redis.del(keys.lease(0, 'arena'));
  const catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  if (isSwept) while ((await catalog.sweep()) > 0);
  else {
    const all = [keys.previous(0), keys.snapshots(0), keys.discarded(0)];
    const move = ['', 'arena', '', 'previous', 'discarded'];
    await redis.ranklogMove(5, keys.lease(0, 'arena'), keys.shadows(0), ...all, ...move);
  }
}

/** A reader whose commands of these names come late: `meanwhile` is done first. */
function lateReader(late: readonly string[], meanwhile: () => Promise<void>, generation?: string) {
  return new BoardReader(lateClient(redis, late, meanwhile), fixture.keys, generation);
}

describe.each([true, false])(
  'a generation that is given up while it is read (swept: %s)',
  (isSwept) => {
    const late = (name: string, call = 1) =>
      lateReader(
        [name],
        once(() => replace({ isSwept }), call),
      );

    it('is no empty board: the page, rank and views of the next one are read', async () => {
      const { entries } = await late('ranklogPage').standings('arena', 'all', {
        offset: 0,
        limit: 9,
      });
      expect(entries.map(({ playerId, rank }) => [playerId, rank])).toEqual([['b', 1], ['a', 2]]); // prettier-ignore
      const { entries: found } = await late('ranklogRank').rank('arena', 'all', 'a');
      expect(found).toMatchObject([{ playerId: 'a', rank: 2 }]);
      const listing = late('ranklogViews', 2); // the first call finds the generation
      expect(await listing.views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
    });

    it('does not shorten a list of views: the listing fails once the sizes are gone', async () => {
      const reader = late('zcard');
      const all = [{ view: 'all', size: 2 }];
      if (isSwept) await expect(reader.views('arena')).rejects.toThrow(ListingInterruptedError);
      else expect(await reader.views('arena')).toMatchObject(all);
      expect(await reader.views('arena')).toMatchObject(all);
    });

    it('is not read by a definition that a reader remembers', async () => {
      const reader = fixture.reader();
      const points = async () => {
        const { entries } = await reader.rank('arena', 'all', 'a');
        return entries.map(({ columns }) => columns);
      };
      expect(await points()).toEqual([{ points: '3' }]);
      const columns = arena.columns.map((column) => ({ ...column, decimals: 1 }));
      await replace({ isSwept, definition: { ...arena, columns } });
      expect(await points()).toEqual([{ points: '0.3' }]);
    });

    it('does not hide a view that only the next one has', async () => {
      const reader = fixture.reader();
      await reader.rank('arena', 'all', 'a');
      await replace({ isSwept, definition: { ...arena, dimensions: [[], ['region']] } });
      const view = 'all region=eu';
      expect(await reader.rank('arena', view, 'a')).toMatchObject({ view, entries: [] });
      await expect(reader.rank('arena', 'all team=red', 'a')).rejects.toThrow(NoSuchViewError);
    });

    it('is told where all are given up, and nothing is read without end', async () => {
      const always = lateReader(['ranklogPage'], () => replace({ isSwept }));
      const reading = always.standings('arena', 'all', { offset: 0, limit: 9 });
      await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
    });
  },
);

describe('a board', () => {
  it('that is removed is unknown to a reader that remembers it', async () => {
    const reader = fixture.reader();
    await reader.rank('arena', 'all', 'a');
    const lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
    await new GenerationStore(redis, fixture.keys, { shards: 1 }).remove(lease);
    await expect(reader.rank('arena', 'all', 'a')).rejects.toThrow(UnknownBoardError);
    await expect(reader.views('arena')).rejects.toThrow(UnknownBoardError);
  });

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
    const catalog = new GenerationCatalog(redis, fixture.keys, { shards: 1 });
    const discard = async () => {
      await catalog.removeSnapshot(generation);
    };
    const reading = lateReader(['ranklogRank'], discard, generation).rank('arena', 'all', 'a');
    await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
  });
});
