import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { NoSuchViewError, type BoardDefinition } from '#board';
import {
  BoardReader,
  ListingInterruptedError,
  UnknownBoardError,
  UnknownGenerationError,
} from '#board-store';
import { arena } from './fixture.js';
import { GenerationFixture } from './generation-fixture.js';
import { lateClient, once, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

let fixture: GenerationFixture;
beforeEach(async () => {
  fixture = await GenerationFixture.make(testRedis);
});

interface Replacement {
  readonly isSwept: boolean;
  readonly definition?: BoardDefinition;
}

/**
 * Promotes a rebuild of the board, and discards the generation that was live; if `isSwept`, a sweep
 * also frees its memory.
 */
async function replace({ isSwept, definition = arena }: Replacement): Promise<void> {
  const { keys } = fixture;
  await fixture.makeLive(await fixture.build(undefined, { definition }), [], 0);
  await fixture.killHolder();
  if (isSwept) await fixture.sweep();
  else {
    const move = { from: 'previous', to: 'discarded' };
    const any = { token: '', board: 'arena', generation: '' };
    await redis.ranklogMove({ ...keys.ofRoles(0, 'arena'), ...any, ...move });
  }
  await fixture.acquire();
}

/** A reader that runs `meanwhile` before each command that matches `late`. */
function lateReader(late: RegExp, meanwhile: () => Promise<void>, generation?: string) {
  return new BoardReader({
    redis: lateClient(redis, late, meanwhile),
    prefix: fixture.keys.prefix,
    generation: generation,
  });
}

describe.each([true, false])(
  'a generation that is discarded while it is read (swept: %s)',
  (isSwept) => {
    const late = (name: RegExp, call = 1) =>
      lateReader(
        name,
        once(() => replace({ isSwept }), call),
      );

    it('is not read as an empty board: page, rank and views come from its successor', async () => {
      const { entries } = await late(/^ranklogPageBuffer$/).standings('arena', {
        view: 'all',
        limit: 9,
      });
      expect(entries.map(({ playerId, rank }) => [playerId, rank])).toEqual([
        ['b', 1],
        ['a', 2],
      ]);
      const { standing } = await late(/^ranklogPageBuffer$/).player('arena', 'a');
      expect(standing).toMatchObject({ playerId: 'a', rank: 2 });
      const listing = late(/^ranklogViews$/, 2); // the first call finds the generation
      expect(await listing.views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
    });

    it('does not shorten a list of views: the listing fails if the rankings, from which it reads the sizes, are deleted', async () => {
      const reader = late(/^zcard$/);
      const all = [{ view: 'all', size: 2 }];
      if (isSwept) await expect(reader.views('arena')).rejects.toThrow(ListingInterruptedError);
      else expect(await reader.views('arena')).toMatchObject(all);
      expect(await reader.views('arena')).toMatchObject(all);
    });

    it('is followed by a successor that is read with its own definition, not with the cached one', async () => {
      const reader = fixture.reader();
      const points = async () => {
        return (await reader.player('arena', 'a')).standing?.columns;
      };
      expect(await points()).toEqual({ points: '3' });
      const columns = arena.columns.map((column) => ({ ...column, decimals: 1 }));
      await replace({ isSwept, definition: { ...arena, columns } });
      expect(await points()).toEqual({ points: '0.3' });
    });

    it('does not hide a view that only its successor has', async () => {
      const reader = fixture.reader();
      await reader.player('arena', 'a');
      await replace({ isSwept, definition: { ...arena, dimensions: [[], ['region']] } });
      const view = 'all region=eu';
      expect(await reader.player('arena', 'a', { view })).toMatchObject({ view, standing: null });
      await expect(reader.player('arena', 'a', { where: { team: 'red' } })).rejects.toThrow(
        NoSuchViewError,
      );
    });

    it('ends a read with an error if every successor is discarded, too', async () => {
      const always = lateReader(/^ranklogPageBuffer$/, () => replace({ isSwept }));
      const reading = always.standings('arena', { view: 'all', limit: 9 });
      await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
    });
  },
);

describe('a board', () => {
  it('that is removed is unknown to a reader with a cached definition', async () => {
    const reader = fixture.reader();
    await reader.player('arena', 'a');
    await fixture.generations.remove(fixture.lease);
    await expect(reader.player('arena', 'a')).rejects.toThrow(UnknownBoardError);
    await expect(reader.views('arena')).rejects.toThrow(UnknownBoardError);
  });

  it('without the definition of its live generation is unknown', async () => {
    await redis.del(fixture.keys.definitions(0));
    const reading = fixture.reader().board('arena');
    await expect(reading).rejects.toBeInstanceOf(UnknownBoardError);
  });
});

describe('a snapshot that is discarded while it is read', () => {
  it('is unknown', async () => {
    const { generation } = fixture.live;
    await redis.hset(fixture.keys.snapshots(0), generation, 'arena');
    const discard = async () => {
      await fixture.catalog.removeSnapshot(generation);
    };
    const reading = lateReader(/^ranklogPlayersBuffer$/, discard, generation).player('arena', 'a');
    await expect(reading).rejects.toBeInstanceOf(UnknownGenerationError);
  });
});
