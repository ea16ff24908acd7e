import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LeaderChange, RankChange } from '#contracts';
import type { OracleBytes } from '../../model/oracle.js';
import { causeOf } from '../../support/results.js';
import { check } from './check.js';
import type { FlipFact } from './facts.js';
import { perfectRun, TOPIC, type BreakableFacts, type Plain } from './perfect-run.js';

const RECORDS = 400;
/** A loss after which nothing was left to apply again. */
const AT_THE_END = Number.MAX_SAFE_INTEGER;

/** What the check finds, without the numbers and examples. */
function found(facts: BreakableFacts, losses: readonly number[] = []): string[] {
  const { problems } = check(TOPIC, facts, { losses });
  return problems.filter((line) => !line.startsWith(' ')).map((line) => line.split(':')[0] ?? '');
}

/** The same with the element at `index` replaced by none, one or several. */
function replaced<T>(items: readonly T[], index: number, by: (item: T) => readonly T[]): T[] {
  return items.flatMap((item, place) => (place === index ? by(item) : [item]));
}

describe('the check of a run', () => {
  let facts: BreakableFacts;
  /** A rank change in the middle, and a later one of the same player. */
  let index = 0;
  let later = 0;

  beforeAll(() => {
    facts = perfectRun(RECORDS);
    const { rankChanges } = facts;
    const follower = (from: number) =>
      rankChanges.findIndex(
        ({ board, playerId }, place) =>
          place > from &&
          board === rankChanges[from]?.board &&
          playerId === rankChanges[from].playerId,
      );
    const isArena = ({ board }: { board: string }, place: number) =>
      place > 80 && board === 'arena' && follower(place) > 0;
    index = rankChanges.findIndex(isArena);
    later = follower(index);
  });

  it('finds nothing in a run without a fault, which has results and dead letters of all kinds', () => {
    expect(check(TOPIC, facts, { losses: [] })).toEqual({
      problems: [],
      records: RECORDS,
      results: facts.rankChanges.length,
      deadLetters: facts.deadLetters.length,
    });
    expect(facts.rankChanges.length).toBeGreaterThan(200);
    expect(facts.leaderChanges.length).toBeGreaterThan(70);
    expect(new Set(facts.deadLetters.map(({ code }) => code)).size).toBeGreaterThan(5);
  });

  it('finds a rank change that is missing', () => {
    const rankChanges = replaced(facts.rankChanges, index, () => []);
    expect(found({ ...facts, rankChanges })).toEqual(
      expect.arrayContaining([
        'rank changes that are missing',
        'chains of rank changes that are broken',
      ]),
    );
  });

  it('finds a rank change that is there twice', () => {
    const rankChanges = replaced(facts.rankChanges, index, (one) => [one, one]);
    expect(found({ ...facts, rankChanges })).toContain(
      'rank changes that are there more than once',
    );
  });

  it('finds a rank change of an event that changed nothing', () => {
    const none = { topic: TOPIC, partition: 0, offset: 99_999 };
    const rankChanges = replaced(facts.rankChanges, index, (one) => [
      one,
      { ...one, source: none },
    ]);
    expect(found({ ...facts, rankChanges })).toContain('rank changes of nothing that was applied');
  });

  it.each(['rankChanges', 'leaderChanges', 'deadLetters'] as const)(
    'finds what only the console consumer misses, or sees twice, of %s',
    (topic) => {
      const name = { rankChanges: 'rank', leaderChanges: 'leader', deadLetters: 'dead' }[topic];
      const ids = facts.consoleIds[topic];
      const without = { ...facts.consoleIds, [topic]: ids.slice(1) };
      const twice = { ...facts.consoleIds, [topic]: [...ids, ...ids.slice(0, 1)] };
      const what = new RegExp(`^${name} \\w+ by the console consumer that are`);
      expect(found({ ...facts, consoleIds: without })).toEqual([expect.stringMatching(what)]);
      expect(found({ ...facts, consoleIds: twice })).toEqual([expect.stringMatching(what)]);
    },
  );

  it('finds dead letters that are missing, doubled, of a good record, or with a wrong reason', () => {
    const [first] = facts.deadLetters;
    const missing = { ...facts, deadLetters: facts.deadLetters.slice(1) };
    expect(found(missing)).toEqual(['dead letters that are missing']);
    const doubled = { ...facts, deadLetters: [...facts.deadLetters, first!] };
    expect(found(doubled)).toEqual(['dead letters that are there more than once']);
    const foreign = [...facts.deadLetters, { id: `${TOPIC}/0/99999`, code: 'NOT_JSON' }];
    expect(found({ ...facts, deadLetters: foreign })).toEqual([
      'dead letters of nothing that was applied',
    ]);
    const wrong = replaced(facts.deadLetters, 0, (one) => [{ ...one, code: 'TOO_MANY_VIEWS' }]);
    expect(found({ ...facts, deadLetters: wrong })).toEqual(['dead letters with a wrong reason']);
  });

  describe('of what Redis holds', () => {
    const withBytes = (change: (bytes: OracleBytes) => OracleBytes) => {
      const bytes = facts.stored.get('arena all')!;
      return { ...facts, stored: new Map(facts.stored).set('arena all', change(bytes)) };
    };
    const BROKEN = ['views that are not those of the oracle'];

    it('finds a byte of a member, a score, a state', () => {
      const last = (text: string) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
      const [first, ...others] = facts.stored.get('arena all')!.ranking;
      const member = { ...first!, member: last(first!.member) };
      const score = { ...first!, score: last(first!.score) };
      for (const one of [member, score])
        expect(found(withBytes((bytes) => ({ ...bytes, ranking: [one, ...others] })))).toEqual(
          BROKEN,
        );
      const state = (bytes: OracleBytes) => {
        const [[player, text] = ['', '']] = Object.entries(bytes.players);
        return { ...bytes, players: { ...bytes.players, [player]: last(text) } };
      };
      expect(found(withBytes(state))).toEqual(BROKEN);
    });

    it('finds a player too few, two who are swapped, a view too few or too many', () => {
      const swapped = ({ ranking: [a, b, ...rest], players }: OracleBytes) => ({
        ranking: [b!, a!, ...rest],
        players,
      });
      expect(found(withBytes(swapped))).toEqual(BROKEN);
      const fewer = ({ ranking, players }: OracleBytes) => ({
        ranking: ranking.slice(0, -1),
        players,
      });
      expect(found(withBytes(fewer))).toEqual(BROKEN);
      const stored = new Map(facts.stored);
      stored.delete('form all');
      expect(found({ ...facts, stored })).toEqual(BROKEN);
      const other = new Map(facts.stored).set('form week', { ranking: [], players: { a: '1@1' } });
      expect(found({ ...facts, stored: other })).toEqual(BROKEN);
    });
  });

  describe('of rank changes', () => {
    const withChange = (change: (one: Plain<RankChange>) => Plain<RankChange>) => ({
      ...facts,
      rankChanges: replaced(facts.rankChanges, index, (one) => [change(one)]),
    });
    const withPlacing = (part: 'before' | 'after', placing: object) =>
      withChange((one) => ({
        ...one,
        changes: one.changes.map((movement) => ({
          ...movement,
          [part]: movement[part] && { ...movement[part], ...placing },
        })),
      }));
    const REPLAY = 'rank changes that are not those of the oracle at their version';

    it('finds a rank that is not that of the oracle at its version', () => {
      expect(found(withPlacing('after', { rank: 40 }))).toEqual([REPLAY]);
      expect(found(withPlacing('before', { rank: 40 }))).toEqual([REPLAY]);
      expect(found(withPlacing('after', { competitionRank: 40 }))).toEqual([REPLAY]);
    });

    it('finds columns that are not those that the player had before', () => {
      expect(found(withPlacing('before', { columns: { points: '0.07' } }))).toEqual([
        'chains of rank changes that are broken',
        REPLAY,
      ]);
    });

    it('finds an event that was applied at another version than it says', () => {
      const { version } = facts.rankChanges[later]!.changes[0]!;
      const moved = withChange((one) => ({
        ...one,
        changes: one.changes.map((movement) => ({ ...movement, version: version + 1 })),
      }));
      expect(found(moved)).toEqual([REPLAY]);
    });

    it('takes ranks that count in what Redis lost before it was published, and no others', () => {
      const lossy = perfectRun(RECORDS, { lostTail: 30 });
      const { loss, rankChanges } = lossy;
      expect(found(lossy)).toEqual([REPLAY]);
      expect(found(lossy, [loss])).toEqual([]);
      const before = rankChanges.findLastIndex(
        ({ board, changes, source }) =>
          board === 'arena' && source.partition !== 0 && changes[0]!.version < loss,
      );
      const other = (by: number) =>
        replaced(rankChanges, before, (one) => [
          {
            ...one,
            changes: one.changes.map((movement) => ({
              ...movement,
              after: { ...movement.after!, rank: movement.after!.rank + by },
            })),
          },
        ]);
      expect(found({ ...lossy, rankChanges: other(8) }, [loss])).toEqual([REPLAY]);
      expect(found({ ...lossy, rankChanges: other(-8) }, [loss])).toEqual([REPLAY]);
    });

    it('finds a wrong player who was passed', () => {
      const passing = facts.rankChanges.findIndex(({ changes }) => changes[0]?.overtook?.length);
      const rankChanges = replaced(facts.rankChanges, passing, (one) => [
        { ...one, changes: one.changes.map((movement) => ({ ...movement, overtook: [] })) },
      ]);
      expect(found({ ...facts, rankChanges })).toEqual([REPLAY]);
    });
  });

  describe('of leader changes', () => {
    const STEPS = 'leader changes that do not follow from the one before';
    const withLeaders = (
      index: number,
      by: (one: Plain<LeaderChange>) => readonly Plain<LeaderChange>[],
    ) => ({
      ...facts,
      leaderChanges: replaced(facts.leaderChanges, index, by),
    });
    /** One of the view that has most of them, not the first nor the last. */
    const inTheMiddle = () =>
      facts.leaderChanges.findIndex(({ view, since }) => view === 'all' && since !== null);

    it('finds one that is missing, or there twice', () => {
      expect(found(withLeaders(inTheMiddle(), () => []))).toContain(STEPS);
      expect(found(withLeaders(inTheMiddle(), (one) => [one, one]))).toContain(
        'leader changes that are there more than once',
      );
    });

    it('finds movements that do not lead from one top to the next', () => {
      const wrong = withLeaders(inTheMiddle(), (one) => [
        { ...one, entered: [...one.entered, { playerId: 'nobody', rank: 1 }] },
      ]);
      expect(found(wrong)).toEqual([STEPS]);
      expect(found(wrong, [AT_THE_END])).toEqual([STEPS]);
    });

    it('finds a chain that begins anew, unless Redis had a loss', () => {
      const anew = withLeaders(inTheMiddle(), (one) => [
        {
          ...one,
          since: null,
          left: [],
          moved: [],
          entered: one.top.map(({ playerId, rank }) => ({ playerId, rank })),
        },
      ]);
      expect(found(anew)).toEqual([STEPS]);
      expect(found(anew, [AT_THE_END])).toEqual([]);
    });

    it('finds a view whose last leader change is not its top', () => {
      const last = facts.leaderChanges.length - 1;
      const wrong = withLeaders(last, (one) => [{ ...one, top: one.top.slice(1) }]);
      expect(found(wrong, [AT_THE_END])).toContain(
        'views whose last leader change is not their top',
      );
    });
  });

  describe('of generations', () => {
    const NOT_LIVE = 'rank changes of a generation that was not live then';
    const CHAINS = 'chains of rank changes that are broken';
    const REPLAY = 'rank changes that are not those of the oracle at their version';
    let flipped: BreakableFacts;
    /** Where arena was built anew, changed, built anew, and changed back. */
    let flips: readonly FlipFact[];
    beforeAll(() => {
      flipped = perfectRun(RECORDS, { flips: true });
      flips = flipped.flips.filter(({ board }) => board === 'arena').slice(1);
    });

    /** The first rank change of arena behind a flip that is not the first of its player in a view. */
    const behind = (flip: number) =>
      flipped.rankChanges.findIndex(
        ({ board, changes }) =>
          board === 'arena' &&
          changes[0]!.version > flips[flip]!.since &&
          changes[0]!.before !== null,
      );
    const withChange = (at: number, by: (one: Plain<RankChange>) => Plain<RankChange>) => ({
      ...flipped,
      rankChanges: replaced(flipped.rankChanges, at, (one) => [by(one)]),
    });

    it('finds nothing in a run whose boards are built anew, changed, and changed back', () => {
      expect(found(flipped)).toEqual([]);
      expect(new Set(flipped.rankChanges.map(({ generation }) => generation)).size).toBe(15);
    });

    it('finds one that nobody defined', () => {
      const foreign = withChange(behind(0), (one) => ({ ...one, generation: '1-abc' }));
      expect(found(foreign)).toContain('rank changes of a generation that nobody defined');
    });

    it('finds one that was not live then, though its definition was, unless Redis had lost who was', () => {
      const [{ generation: other }, { since }] = [flips[3]!, flips[0]!];
      const at = behind(0);
      const before = flipped.flips.find(({ board }) => board === 'arena')!.generation;
      const stale = withChange(at, (one) => ({ ...one, generation: before }));
      expect(found(stale)).toEqual([NOT_LIVE]);
      const early = withChange(at, (one) => ({ ...one, generation: other }));
      expect(found(early)).toEqual([NOT_LIVE]);
      expect(found(stale, [since])).toEqual([]);
    });

    it('finds a board that is not as it was last defined', () => {
      const without = flipped.flips.filter((flip) => flip !== flips[3]);
      expect(found({ ...flipped, flips: without })).toContain(
        'boards that are not as they were last defined',
      );
    });

    it('finds columns that do not go on over a flip of the same definition', () => {
      const columns = { points: '0.07', wins: '1' };
      const broken = withChange(behind(0), (one) => ({
        ...one,
        changes: one.changes.map(({ before, ...movement }) => ({
          ...movement,
          before: before && { ...before, columns },
        })),
      }));
      expect(found(broken)).toEqual([CHAINS, REPLAY]);
    });

    it.each([1, 3])('finds ranks and columns that are not by the definition of flip %i', (flip) => {
      const at = behind(flip);
      const wrong = (placing: object) =>
        withChange(at, (one) => ({
          ...one,
          changes: one.changes.map(({ after, ...movement }) => ({
            ...movement,
            after: { ...after!, ...placing },
          })),
        }));
      expect(found(wrong({ rank: 40 }))).toEqual([REPLAY]);
      expect(found(wrong({ columns: { wins: '99', points: '0.1' } }))).toContain(REPLAY);
    });

    it('finds a view that a rank change leaves out', () => {
      const less = withChange(behind(1), (one) => ({ ...one, changes: one.changes.slice(0, 1) }));
      expect(found(less)).toContain(REPLAY);
    });

    it('finds a result that a flip repeats, or loses', () => {
      const at = behind(1);
      const again = replaced(flipped.rankChanges, at - 1, (one) => [
        one,
        { ...one, generation: flips[1]!.generation },
      ]);
      expect(found({ ...flipped, rankChanges: again })).toContain(
        'rank changes that are there more than once',
      );
      const lost = replaced(flipped.rankChanges, at, () => []);
      expect(found({ ...flipped, rankChanges: lost })).toContain('rank changes that are missing');
    });

    it('finds a dead letter missing of what only the definition refused that was live', () => {
      const taken = new Set(facts.rankChanges.map(causeOf));
      const at = flipped.deadLetters.findIndex(({ id }) => taken.has(id));
      expect(flipped.deadLetters[at]?.code).toBe('TOO_MANY_DECIMALS');
      const deadLetters = replaced(flipped.deadLetters, at, () => []);
      expect(found({ ...flipped, deadLetters })).toContain('dead letters that are missing');
    });
  });
});
