import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { LeaderChange } from './classes/leader-change.js';
import { RankChange } from './classes/rank-change.js';
import { ScoreEvent } from './classes/score-event.js';
import { leaderChangeContract } from './leader-change.js';
import { rankChangeContract } from './rank-change.js';
import { explainScoreEvent, isScoreEvent, SCORE_EVENT_FIELDS } from './score-event.js';
import { isPlainObject } from './values.js';
import {
  changed,
  leaderChange,
  mutated,
  placing,
  rankChange,
  scoreEvent,
} from '../../test/support/contract-values.js';

const isRankChange = (value: unknown) => rankChangeContract.matches(value);
const isLeaderChange = (value: unknown) => leaderChangeContract.matches(value);

/** Why a value does not match, by class-validator. */
function explain(target: new () => object, value: unknown): string[] {
  if (!isPlainObject(value)) return ['the value is not an object'];
  return validateSync(plainToInstance(target, value)).map((error) => error.toString());
}
const explainRankChange = (value: unknown) => explain(RankChange, value);
const explainLeaderChange = (value: unknown) => explain(LeaderChange, value);

/** The first invalid field of a score event, by class-validator. */
function invalidField(value: Record<string, unknown>) {
  const event = new ScoreEvent();
  for (const field of SCORE_EVENT_FIELDS)
    if (Object.hasOwn(value, field)) Object.assign(event, { [field]: value[field] });
  const errors = validateSync(event);
  for (const field of SCORE_EVENT_FIELDS) {
    const error = errors.find(({ property }) => property === field);
    if (error !== undefined)
      return { field, message: Object.values(error.constraints ?? {}).join('; ') };
  }
  return undefined;
}

/** A rank change whose `after` is not null. */
function rightChange(): unknown {
  const [change] = fc.sample(rankChange, { numRuns: 1, seed: 7 });
  const [after] = fc.sample(placing, { numRuns: 1, seed: 7 });
  return changed(change, ['changes', 0, 'after'], { to: after });
}

function expectSameVerdicts(
  valid: fc.Arbitrary<unknown>,
  compiled: (value: unknown) => boolean,
  explained: (value: unknown) => boolean,
): void {
  const seen = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(mutated(valid), (value) => {
      const verdict = compiled(value);
      seen[verdict ? 'right' : 'wrong'] += 1;
      expect(verdict).toBe(explained(value));
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(100);
}

describe('the compiled validator and class-validator', () => {
  it('give the same verdicts on score events', () => {
    expectSameVerdicts(
      scoreEvent,
      isScoreEvent,
      (event) => invalidField(event as Record<string, unknown>) === undefined,
    );
  });

  it('give the same reasons for score events', () => {
    fc.assert(
      fc.property(mutated(scoreEvent), (value) => {
        const event = value as Record<string, unknown>;
        expect(explainScoreEvent(event)).toEqual(invalidField(event));
      }),
      { numRuns: 3_000 },
    );
  });

  it('give the same verdicts on rank changes', () => {
    expectSameVerdicts(
      rankChange,
      isRankChange,
      (change) => explainRankChange(change).length === 0,
    );
  });

  it('give the same verdicts on leader changes', () => {
    expectSameVerdicts(
      leaderChange,
      isLeaderChange,
      (change) => explainLeaderChange(change).length === 0,
    );
  });

  it.each([[[]], [[{}]], [null], ['text'], [1], [true]])(
    'refuse %j, which is not an object',
    (value) => {
      expect(isScoreEvent(value)).toBe(false);
      expect(isRankChange(value)).toBe(false);
      expect(isLeaderChange(value)).toBe(false);
      expect(explainRankChange(value)).toEqual(['the value is not an object']);
      expect(explainLeaderChange(value)).toEqual(['the value is not an object']);
    },
  );

  it.each([NaN, Infinity, -Infinity])('refuse %d, which is not a JSON number', (delta) => {
    expect(isScoreEvent({ board: 'arena', playerId: 'p-17', delta })).toBe(false);
  });

  it.each([
    [['source', 'partition'], 0.5],
    [['changes', 0, 'version'], 1.5],
    [['changes', 0, 'version'], 2 ** 53],
    [['changes', 0, 'after', 'rank'], 0],
    [['changes', 0, 'after', 'rank'], '1'],
    [['changes', 0, 'after', 'competitionRank'], 1.5],
    [['changes', 0, 'after', 'competitionRank'], null],
    [['changes', 0, 'after'], []],
    [['changes', 0, 'before'], []],
    [['changes', 0], []],
    [['changes', 0], null],
    [['changes'], {}],
    [['changes', 0, 'after', 'columns'], []],
    [['changes', 0, 'after', 'columns'], { points: 1 }],
    [['changes', 0, 'overtook'], null],
    [['changes', 0, 'overtook'], {}],
    [['changes', 0, 'overtook'], [null]],
    [['changes', 0, 'overtook'], [{ playerId: 'p-4', rankBefore: 1 }]],
    [['changes', 0, 'overtook'], [{ playerId: '', rankBefore: 1, rankAfter: 2 }]],
  ])('refuse a rank change with %j set to %j', (path, to) => {
    const wrong = changed(rightChange(), path, { to });
    expect(isRankChange(wrong)).toBe(false);
    expect(explainRankChange(wrong)).not.toEqual([]);
  });

  it.each([
    [['since'], {}],
    [['since'], { to: 0 }],
    [['since'], { to: '1' }],
    [['since'], { to: [] }],
    [['version'], { to: null }],
    [['top'], {}],
    [['top'], { to: {} }],
    [['top'], { to: [null] }],
    [['top'], { to: [[]] }],
    [['top'], { to: [{ rank: 1, competitionRank: 1, columns: {} }] }],
    [['top'], { to: [{ playerId: 'p-4', rank: 1, competitionRank: 1 }] }],
    [['top'], { to: [{ playerId: 'p-4', rank: 1, columns: {} }] }],
    [['entered'], { to: [{ playerId: 'p-4', rank: 0 }] }],
    [['left'], { to: [{ playerId: 'p-4', rank: 1 }] }],
    [['moved'], { to: [{ playerId: 'p-4', rankBefore: 1 }] }],
    [['moved'], {}],
  ])('refuse a leader change with %j changed: %j', (path, change) => {
    const [right = {}] = fc.sample(leaderChange, { numRuns: 1, seed: 7 });
    const wrong = changed(right, path, change);
    expect(isLeaderChange(right)).toBe(true);
    expect(isLeaderChange(wrong)).toBe(false);
    expect(explainLeaderChange(wrong)).not.toEqual([]);
  });

  it.each(['before', 'after'])('refuse a movement without %s, which can only be null', (field) => {
    const wrong = changed(rightChange(), ['changes', 0, field], {});
    expect(isRankChange(wrong)).toBe(false);
    expect(explainRankChange(wrong)).not.toEqual([]);
  });

  it.each(['source', 'changes'])('refuse [] for %s of a rank change', (field) => {
    fc.assert(
      fc.property(rankChange, (change) => {
        const event = changed(change, [field], { to: [] });
        expect(isRankChange(event)).toBe(false);
        expect(explainRankChange(event)).not.toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
