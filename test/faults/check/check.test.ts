import { describe, expect, it } from '@jest/globals';
import type { LeaderChange, RankChange } from '#contracts';
import type { OracleBytes } from '../../model/oracle.js';
import { check } from './check.js';
import { perfectRun, TOPIC, type BreakableFacts, type Plain } from './perfect-run.js';

const RECORDS = 400;
const VIEWS = 'views that are not those of the oracle';
const CHAINS = 'chains of rank changes that are broken';
const REPLAY = 'rank changes that are not those of the oracle at their version';
const LEADERS = 'leader changes that do not follow from the one before';
const NOWHERE = { topic: TOPIC, partition: 0, offset: 99_999 };

type Damage = (facts: BreakableFacts) => Partial<BreakableFacts>;
type Movement = Plain<RankChange>['changes'][number];

/** The headings of the problems that the check reports. */
function found(facts: BreakableFacts, losses: readonly number[] = []): string[] {
  const { problems } = check(TOPIC, facts, losses);
  return problems.filter((line) => !line.startsWith(' ')).map((line) => line.split(':')[0] ?? '');
}

function replaced<T>(items: readonly T[], index: number, by: (item: T) => readonly T[]): T[] {
  return items.flatMap((item, place) => (place === index ? by(item) : [item]));
}

function arenaPromotions({ promotions }: BreakableFacts) {
  return promotions.filter(({ board }) => board === 'arena');
}

/** Replaces the first rank change of the arena's second generation whose player was ranked before. */
function rankChange(by: (one: Plain<RankChange>) => readonly Plain<RankChange>[]): Damage {
  return (facts) => {
    const since = arenaPromotions(facts)[1]!.since;
    const index = facts.rankChanges.findIndex(
      ({ board, changes: [first] }) =>
        board === 'arena' && first!.version > since && first!.before !== null,
    );
    return { rankChanges: replaced(facts.rankChanges, index, by) };
  };
}

function movements(by: (one: Movement) => Movement): Damage {
  return rankChange((one) => [{ ...one, changes: one.changes.map(by) }]);
}

function leaderChange(by: (one: Plain<LeaderChange>) => readonly Plain<LeaderChange>[]): Damage {
  return ({ leaderChanges }) => {
    const index = leaderChanges.findIndex(({ view, since }) => view === 'all' && since !== null);
    return { leaderChanges: replaced(leaderChanges, index, by) };
  };
}

function consoleIds(by: (ids: readonly string[]) => readonly string[]): Damage {
  return ({ consoleIds: { rankChanges, leaderChanges, deadLetters } }) => ({
    consoleIds: {
      rankChanges: by(rankChanges),
      leaderChanges: by(leaderChanges),
      deadLetters: by(deadLetters),
    },
  });
}

function stored(by: (bytes: OracleBytes) => OracleBytes): Damage {
  return (facts) => ({
    stored: new Map(facts.stored).set('arena all', by(facts.stored.get('arena all')!)),
  });
}

const last = (text: string) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
const twice = <T>(one: T) => [one, one];
const consoleProblems = (problem: string) =>
  ['rank changes', 'dead letters', 'leader changes'].map(
    (topic) => `${topic} by the console consumer that are ${problem}`,
  );

/** The damage, the problems that the check must report, and how to cause it. */
const WRONG: readonly (readonly [string, readonly string[], Damage])[] = [
  [
    'one byte of a score',
    [VIEWS],
    stored(({ ranking: [first, ...others], players }) => ({
      ranking: [{ ...first!, score: last(first!.score) }, ...others],
      players,
    })),
  ],
  [
    'one byte of a state',
    [VIEWS],
    stored(({ ranking, players }) => {
      const [[player, state] = ['', '']] = Object.entries(players);
      return { ranking, players: { ...players, [player]: last(state) } };
    }),
  ],
  [
    'a missing member',
    [VIEWS],
    stored(({ ranking, players }) => ({ ranking: ranking.slice(0, -1), players })),
  ],
  [
    'a missing view',
    [VIEWS],
    (facts) => ({ stored: new Map([...facts.stored].filter(([name]) => name !== 'form all')) }),
  ],
  ['a missing rank change', ['rank changes that are missing', CHAINS], rankChange(() => [])],
  ['a repeated rank change', ['rank changes that are there more than once'], rankChange(twice)],
  [
    'a rank change without an event',
    ['rank changes without an applied event'],
    rankChange((one) => [one, { ...one, source: NOWHERE }]),
  ],
  [
    'results that the console consumer misses',
    consoleProblems('missing'),
    consoleIds((ids) => ids.slice(1)),
  ],
  [
    'results that the console consumer reads twice',
    consoleProblems('there more than once'),
    consoleIds((ids) => [...ids, ...ids.slice(0, 1)]),
  ],
  [
    'a missing dead letter',
    ['dead letters that are missing'],
    ({ deadLetters }) => ({ deadLetters: deadLetters.slice(1) }),
  ],
  [
    'a repeated dead letter',
    ['dead letters that are there more than once'],
    ({ deadLetters }) => ({ deadLetters: replaced(deadLetters, 0, twice) }),
  ],
  [
    'a dead letter without a record',
    ['dead letters without an applied event'],
    ({ deadLetters }) => ({
      deadLetters: [...deadLetters, { id: `${TOPIC}/0/99999`, code: 'NOT_JSON' }],
    }),
  ],
  [
    'a dead letter with another reason',
    ['dead letters with a wrong reason'],
    ({ deadLetters }) => ({
      deadLetters: replaced(deadLetters, 0, (one) => [{ ...one, code: 'TOO_MANY_VIEWS' }]),
    }),
  ],
  [
    'another rank',
    [REPLAY],
    movements((one) => ({ ...one, after: one.after && { ...one.after, rank: 40 } })),
  ],
  [
    'another rank before',
    [REPLAY],
    movements((one) => ({ ...one, before: one.before && { ...one.before, rank: 40 } })),
  ],
  [
    'other columns before',
    [CHAINS, REPLAY],
    movements((one) => ({
      ...one,
      before: one.before && { ...one.before, columns: { points: '0.07', wins: '1' } },
    })),
  ],
  [
    'another overtaken player',
    [REPLAY],
    ({ rankChanges }) => ({
      rankChanges: replaced(
        rankChanges,
        rankChanges.findIndex(({ changes: [first] }) => first?.overtook?.length),
        (one) => [
          { ...one, changes: one.changes.map((movement) => ({ ...movement, overtook: [] })) },
        ],
      ),
    }),
  ],
  ['a missing leader change', [LEADERS], leaderChange(() => [])],
  [
    'a repeated leader change',
    ['leader changes that are there more than once'],
    leaderChange(twice),
  ],
  [
    'leaders that enter out of nowhere',
    [LEADERS],
    leaderChange((one) => [{ ...one, entered: [...one.entered, { playerId: 'nobody', rank: 1 }] }]),
  ],
  [
    'a last leader change with another top',
    ['views whose last leader change is not their top'],
    ({ leaderChanges }) => ({
      leaderChanges: replaced(leaderChanges, leaderChanges.length - 1, (one) => [
        { ...one, top: one.top.slice(1) },
      ]),
    }),
  ],
  [
    'an unknown generation',
    ['rank changes of a generation with an unknown definition'],
    rankChange((one) => [{ ...one, generation: '1-abc' }]),
  ],
  [
    'a generation that is no longer live',
    ['rank changes of a generation that was not live then'],
    (facts) =>
      rankChange((one) => [{ ...one, generation: arenaPromotions(facts)[0]!.generation }])(facts),
  ],
  [
    'a board with another definition than its last one',
    ['boards that do not have their last definition'],
    (facts) => ({
      promotions: facts.promotions.filter(
        (promotion) => promotion !== arenaPromotions(facts).at(-1),
      ),
    }),
  ],
];

describe('the check of a run', () => {
  const facts = perfectRun(RECORDS, { promotions: true });

  it('finds nothing in an exact run with results and dead letters of all kinds', () => {
    expect(check(TOPIC, facts, [])).toEqual({
      problems: [],
      records: RECORDS,
      results: facts.rankChanges.length,
      deadLetters: facts.deadLetters.length,
    });
    expect(facts.rankChanges.length).toBeGreaterThan(200);
    expect(facts.leaderChanges.length).toBeGreaterThan(70);
    expect(new Set(facts.deadLetters.map(({ code }) => code)).size).toBeGreaterThan(5);
  });

  it.each(WRONG)('finds %s', (_what, problems, damage) => {
    expect(found({ ...facts, ...damage(facts) })).toEqual(expect.arrayContaining([...problems]));
  });

  it('allows ranks that count events lost by Redis, and no other ranks', () => {
    const lossy = perfectRun(RECORDS, { lostTail: 30 });
    const { loss, rankChanges } = lossy;
    expect(found(lossy)).toEqual([REPLAY]);
    expect(found(lossy, [loss])).toEqual([]);
    const before = rankChanges.findLastIndex(
      ({ board, changes, source }) =>
        board === 'arena' && source.partition !== 0 && changes[0]!.version < loss,
    );
    for (const by of [8, -8]) {
      const moved = replaced(rankChanges, before, (one) => [
        {
          ...one,
          changes: one.changes.map(({ after, ...movement }) => ({
            ...movement,
            after: { ...after!, rank: after!.rank + by },
          })),
        },
      ]);
      expect(found({ ...lossy, rankChanges: moved }, [loss])).toEqual([REPLAY]);
    }
  });
});
