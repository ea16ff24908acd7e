import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import Type, { type TProperties } from 'typebox';
import Value from 'typebox/value';
import { isEventTime } from '#board';
import { MalformedRecordError } from './result-contract.js';
import { decodeLeaderChange } from './leader-change.js';
import { decodeRankChange } from './rank-change.js';
import type { RawRecord } from './record.js';
import { scoreEventProblem } from './score-event.js';
import { isAttributes, isColumns, isDelta, isDeltas, isId } from './values.js';
import {
  changed,
  leaderChange,
  mutated,
  placing,
  rankChange,
  scoreEvent,
} from '../../test/support/contract-values.js';

// The contracts once more, as schemas.
const { Array: List, Object: Shape, Optional, Union, Null } = Type;
const rule = (holds: (value: unknown) => boolean) => Type.Refine(Type.Unknown(), holds);
const [ID, TIME, COLUMNS] = [rule(isId), rule(isEventTime), rule(isColumns)];
const countFrom = (minimum: number) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER });
const RANK = countFrom(1);
const SOURCE = Shape({ topic: Type.String(), partition: countFrom(0), offset: countFrom(0) });
const MOVED = List(Shape({ playerId: ID, rankBefore: RANK, rankAfter: RANK }));
const PLACE = { rank: RANK, columns: COLUMNS };
const PLACING = Union([Null(), Shape({ ...PLACE, competitionRank: Optional(RANK) })]);
const MOVEMENT = { before: PLACING, after: PLACING, overtook: Optional(MOVED) };
const result = <Own extends TProperties>(own: Own) =>
  Shape({ board: ID, generation: ID, source: SOURCE, occurredAt: TIME, ...own });

const SCORE_EVENT = Shape({
  board: ID,
  playerId: ID,
  delta: Optional(rule(isDelta)),
  deltas: Optional(rule(isDeltas)),
  occurredAt: Optional(TIME),
  eventId: Optional(ID),
  attributes: Optional(rule(isAttributes)),
});
const RANK_CHANGE = result({
  playerId: ID,
  eventId: Optional(ID),
  changes: List(Shape({ view: Type.String(), version: RANK, ...MOVEMENT }), { minItems: 1 }),
});
const LEADER_CHANGE = result({
  view: Type.String(),
  version: RANK,
  since: Union([Null(), RANK]),
  top: List(Shape({ ...PLACE, playerId: ID, competitionRank: RANK })),
  entered: List(Shape({ playerId: ID, rank: RANK })),
  left: List(Shape({ playerId: ID, rankBefore: RANK })),
  moved: MOVED,
});

/** A value as it arrives in a record. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Whether a value is accepted; the schema has to give the same verdict. */
function verdict(schema: Type.TSchema, decode: (record: RawRecord) => unknown) {
  return (value: unknown) => {
    const isRight = Value.Check(schema, sent(value));
    const record = { key: null, value: Buffer.from(JSON.stringify(sent(value))), headers: {} };
    if (isRight) expect(decode(record)).toEqual(sent(value));
    else expect(() => decode(record)).toThrow(MalformedRecordError);
    return isRight;
  };
}
const isRankChange = verdict(RANK_CHANGE, decodeRankChange);
const isLeaderChange = verdict(LEADER_CHANGE, decodeLeaderChange);

function isScoreEvent(value: unknown): boolean {
  const isRight = Value.Check(SCORE_EVENT, sent(value));
  expect(scoreEventProblem(sent(value) as Record<string, unknown>) === undefined).toBe(isRight);
  return isRight;
}

/** A rank change whose `after` is not null. */
function rightChange(): unknown {
  const [change] = fc.sample(rankChange, { numRuns: 1, seed: 7 });
  const [after] = fc.sample(placing, { numRuns: 1, seed: 7 });
  return changed(change, ['changes', 0, 'after'], { to: after });
}

function expectBothVerdicts(
  valid: fc.Arbitrary<unknown>,
  isAccepted: (value: unknown) => boolean,
): void {
  const seen = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(mutated(valid), (value) => {
      seen[isAccepted(value) ? 'right' : 'wrong'] += 1;
    }),
    { numRuns: 1_200 },
  );
  expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(50);
}

describe('the contracts and their schemas', () => {
  it('give the same verdicts on score events', () => expectBothVerdicts(scoreEvent, isScoreEvent));

  it('give the same verdicts on rank changes', () => expectBothVerdicts(rankChange, isRankChange));

  it('give the same verdicts on leader changes', () =>
    expectBothVerdicts(leaderChange, isLeaderChange));

  it('name the first invalid field of a score event', () => {
    fc.assert(
      fc.property(mutated(scoreEvent), (value) => {
        const event = sent(value) as Record<string, unknown>;
        const fields = Object.entries<Type.TSchema>(SCORE_EVENT.properties);
        const wrong = fields.find(([name, schema]) => {
          if (event[name] === undefined) return SCORE_EVENT.required.includes(name as 'board');
          return !Value.Check(schema, event[name]);
        });
        expect(scoreEventProblem(event)?.detail ?? 'none').toContain(
          wrong === undefined ? 'none' : `; ${wrong[0]} must be `,
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([[[]], [[{}]], [null], ['text'], [1], [true]])(
    'refuse %j, which is not an object',
    (value) => {
      expect(isRankChange(value)).toBe(false);
      expect(isLeaderChange(value)).toBe(false);
    },
  );

  it.each([NaN, Infinity, -Infinity])('refuse %d, which is not a JSON number', (delta) => {
    const event = { board: 'arena', playerId: 'p-17', delta };
    expect(scoreEventProblem(event)).toMatchObject({ code: 'INVALID_NUMBER' });
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
  });

  it.each(['before', 'after'])('refuse a movement without %s, which can only be null', (field) => {
    const wrong = changed(rightChange(), ['changes', 0, field], {});
    expect(isRankChange(wrong)).toBe(false);
  });

  it.each(['source', 'changes'])('refuse [] for %s of a rank change', (field) => {
    fc.assert(
      fc.property(rankChange, (change) => {
        const event = changed(change, [field], { to: [] });
        expect(isRankChange(event)).toBe(false);
      }),
      { numRuns: 20 },
    );
  });
});
