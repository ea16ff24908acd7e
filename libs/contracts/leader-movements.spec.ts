import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leaderMovements } from './leader-movements.js';

const ranked = (ids: readonly string[]) =>
  ids.map((playerId, index) => ({ playerId, rank: index + 1 }));

/** Tops of few players, so that most of them are in both. */
const top = fc.uniqueArray(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__', 'constructor'),
  {
    maxLength: 6,
  },
);

describe('the movements between two tops', () => {
  it('name who came, who went and who has another rank', () => {
    expect(leaderMovements(['a', 'b', 'c', 'd'], ranked(['a', 'x', 'b', 'd']))).toEqual({
      entered: [{ playerId: 'x', rank: 2 }],
      left: [{ playerId: 'c', rankBefore: 3 }],
      moved: [{ playerId: 'b', rankBefore: 2, rankAfter: 3 }],
    });
  });

  it('are none when only columns changed', () => {
    expect(leaderMovements(['a', 'b'], ranked(['a', 'b']))).toEqual({
      entered: [],
      left: [],
      moved: [],
    });
  });

  it('are the whole top when nothing was before', () => {
    expect(leaderMovements([], ranked(['a', 'b'])).entered).toEqual(ranked(['a', 'b']));
  });

  it('are those that a search for each player finds, each in order of rank', () => {
    fc.assert(
      fc.property(top, top, (before, after) => {
        const entered = after
          .filter((playerId) => !before.includes(playerId))
          .map((playerId) => ({ playerId, rank: after.indexOf(playerId) + 1 }));
        const left = before
          .filter((playerId) => !after.includes(playerId))
          .map((playerId) => ({ playerId, rankBefore: before.indexOf(playerId) + 1 }));
        const moved = after
          .filter((playerId, index) => before.includes(playerId) && before[index] !== playerId)
          .map((playerId) => ({
            playerId,
            rankBefore: before.indexOf(playerId) + 1,
            rankAfter: after.indexOf(playerId) + 1,
          }));
        expect(leaderMovements(before, ranked(after))).toEqual({ entered, left, moved });
      }),
      { numRuns: 1_000 },
    );
  });
});
