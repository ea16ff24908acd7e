import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leaderMovements, type LeaderChange } from '#contracts';
import { LeadersByView, type LeaderStep } from './leaders-by-view.js';

interface Change {
  readonly board?: string;
  readonly view?: string;
  readonly version: number;
  readonly since: number | null;
  readonly before?: readonly string[];
  readonly ids: readonly string[];
}

function leaderChange(change: Change): LeaderChange {
  const { board = 'arena', view = 'all', version, since, before = [], ids } = change;
  const top = ids.map((playerId, index) => ({
    playerId,
    rank: index + 1,
    competitionRank: index + 1,
    columns: { points: String(version) },
  }));
  return {
    board,
    generation: '1-a',
    view,
    version,
    since,
    source: { topic: 'ranklog.score-events', partition: 0, offset: version },
    occurredAt: '2026-11-20T09:00:00.123Z',
    top,
    ...leaderMovements(before, top),
  };
}

const FIRST = leaderChange({ version: 5, since: null, ids: ['a', 'b'] });
const SECOND = leaderChange({ version: 8, since: 5, before: ['a', 'b'], ids: ['a', 'c'] });
const THIRD = leaderChange({ version: 9, since: 8, before: ['a', 'c'], ids: ['c', 'a'] });

const movementsOf = ({ entered, left, moved }: LeaderChange | LeaderStep) => ({
  entered,
  left,
  moved,
});
const idsOf = (leaders: LeadersByView) =>
  leaders.top('arena', 'all').map(({ playerId }) => playerId);

describe('LeadersByView', () => {
  it('returns the movements of leader changes in order', () => {
    const leaders = new LeadersByView();
    for (const change of [FIRST, SECOND, THIRD])
      expect(leaders.take(change)).toEqual({
        ...movementsOf(change),
        top: change.top,
        gap: false,
      });
    expect(leaders.top('arena', 'all')).toEqual(THIRD.top);
  });

  it('takes the text of a view in any percent-encoding', () => {
    const leaders = new LeadersByView();
    const view = "all club=O'Neill%2Fb%20c";
    const change = leaderChange({ view, version: 1, since: null, ids: ['a'] });
    leaders.take(change);
    for (const text of [view, 'all club=O%27Neill%2fb%20c', "all club=%4f'Neill/b%20c"]) {
      expect(leaders.top('arena', text)).toEqual(change.top);
      leaders.forget('arena', text);
      expect(leaders.top('arena', view)).toEqual([]);
      leaders.take(change);
    }
    expect(() => leaders.top('arena', 'all club')).toThrow('all club');
  });

  it('ignores an older leader change, and a repeated one', () => {
    const leaders = new LeadersByView();
    leaders.take(SECOND);
    expect([leaders.take(FIRST), leaders.take(SECOND)]).toEqual([undefined, undefined]);
    expect(leaders.top('arena', 'all')).toEqual(SECOND.top);
  });

  it('reports a gap, and the movements across it', () => {
    const leaders = new LeadersByView();
    leaders.take(FIRST);
    expect(leaders.take(THIRD)).toEqual({
      entered: [{ playerId: 'c', rank: 1 }],
      left: [{ playerId: 'b', rankBefore: 2 }],
      moved: [{ playerId: 'a', rankBefore: 1, rankAfter: 2 }],
      top: THIRD.top,
      gap: true,
    });
  });

  it('reports a gap if the first leader change has a `since`, or a later one has none', () => {
    const leaders = new LeadersByView();
    expect(leaders.take(SECOND)).toMatchObject({ gap: true, left: [] });
    const again = leaderChange({ version: 12, since: null, ids: ['c'] });
    expect(leaders.take(again)).toMatchObject({
      gap: true,
      entered: [],
      left: [{ playerId: 'a', rankBefore: 1 }],
      moved: [{ playerId: 'c', rankBefore: 2, rankAfter: 1 }],
    });
  });

  it('separates boards and views, and forgets one view', () => {
    const leaders = new LeadersByView();
    for (const [board, view] of [
      ['arena', 'all'],
      ['arena', 'week:2026-W47'],
      ['golf', 'all'],
    ] as const)
      leaders.take(leaderChange({ board, view, version: 5, since: null, ids: ['a', 'b'] }));
    leaders.forget('arena', 'all');
    leaders.forget('arena', 'never');
    expect(leaders.top('arena', 'all')).toEqual([]);
    expect(leaders.top('arena', 'week:2026-W47')).toEqual(FIRST.top);
    expect(leaders.top('golf', 'all')).toEqual(FIRST.top);
    expect(leaders.take(FIRST)).toMatchObject({ gap: false });
  });

  it('keeps the newest top for leader changes in any order; the movements of each step lead to it', () => {
    const tops = fc.array(
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__'), { maxLength: 4 }),
      { minLength: 1, maxLength: 8 },
    );
    const arrivals = tops.chain((chain) =>
      fc.tuple(
        fc.constant(chain),
        fc.array(fc.nat({ max: chain.length - 1 }), { minLength: 1, maxLength: 20 }),
      ),
    );
    fc.assert(
      fc.property(arrivals, ([chain, order]) => {
        const leaders = new LeadersByView();
        let newest = -1;
        for (const index of order) {
          const ids = chain[index] ?? [];
          const before = chain[index - 1] ?? [];
          const since = index === 0 ? null : index;
          const shown = idsOf(leaders);
          const step = leaders.take(leaderChange({ version: index + 1, since, before, ids }));
          expect(step === undefined).toBe(index <= newest);
          newest = Math.max(newest, index);
          if (step !== undefined) expect(replayed(shown, step)).toEqual(ids);
          expect(idsOf(leaders)).toEqual(chain[newest]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** The player ids of a top after a step, from its movements alone. */
function replayed(ids: readonly string[], { entered, left, moved }: LeaderStep): string[] {
  const ranks = new Map(ids.map((playerId, index) => [playerId, index + 1]));
  for (const { playerId } of left) ranks.delete(playerId);
  for (const { playerId, rankAfter } of moved) ranks.set(playerId, rankAfter);
  for (const { playerId, rank } of entered) ranks.set(playerId, rank);
  return [...ranks].sort(([, a], [, b]) => a - b).map(([playerId]) => playerId);
}
