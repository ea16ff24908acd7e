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

/** Values that validators often judge wrongly. */
const oddity = fc.oneof(
  fc.constantFrom<unknown>(null, [], {}, [[]], [null], [{}], '', ' 1', '1e3', 'NaN', '-0', '0'),
  fc.constantFrom<unknown>(0, -0, 1, -1, 0.5, 1e21, 1e-7, 2 ** 53, 2 ** 53 - 1, NaN, Infinity),
  fc.constantFrom<unknown>(
    true,
    false,
    '\ud800',
    'a\u0000',
    'x'.repeat(129),
    '2026-02-30',
    '__proto__',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const children = keys.flatMap((key) =>
    pathsOf((value as Record<string | number, unknown>)[key], [...path, key]),
  );
  return [path, ...children];
}

/** A copy of `value` with the part at `path` replaced or removed. */
function changed(value: unknown, [key, ...rest]: Path, change: { to?: unknown }): unknown {
  if (key === undefined) return change.to;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const fields = copy as Record<string | number, unknown>;
  if (rest.length === 0 && !('to' in change)) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1);
    else Reflect.deleteProperty(fields, key);
  } else fields[key] = changed(fields[key], rest, change);
  return copy;
}

/** Valid values with up to two parts replaced or removed. */
function mutated(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.oneof(
    oddity.map((to) => ({ to })),
    fc.constant<{ to?: unknown }>({}),
  );
  const step = fc.tuple(fc.nat(), change);
  return fc.tuple(valid, fc.array(step, { maxLength: 2 })).map(([value, steps]) =>
    steps.reduce<unknown>((now, [at, how]) => {
      const paths = pathsOf(now).slice(1);
      return paths.length === 0 ? now : changed(now, paths[at % paths.length] ?? [], how);
    }, value),
  );
}

const id = fc.oneof(
  fc.constantFrom('arena', 'p-17', 'é', '😀'),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const time = fc.constantFrom(
  '2026-11-20T09:00:00Z',
  '0001-01-01T00:00:00.000Z',
  '2026-11-20T09:00:00',
);
const decimalText = fc.constantFrom('0', '-1', '12.50', '9007199254740993', '01');
const delta = fc.oneof(decimalText, fc.integer(), fc.double());

const attribute = fc.oneof(id, fc.array(id, { maxLength: 3 }), fc.constant(Array(64).fill('a')));

const scoreEvent: fc.Arbitrary<ScoreEvent> = fc.record(
  {
    board: id,
    playerId: id,
    delta,
    deltas: fc.dictionary(fc.constantFrom('points', 'goals', '__proto__', ''), delta, {
      maxKeys: 3,
    }),
    occurredAt: time,
    eventId: id,
    attributes: fc.dictionary(fc.constantFrom('region', 'season', '__proto__'), attribute, {
      maxKeys: 2,
    }),
    unknown: oddity,
  },
  { requiredKeys: ['board', 'playerId'] },
);

const count = fc.integer({ min: 1 });
const placing = fc.record(
  {
    rank: count,
    competitionRank: count,
    columns: fc.dictionary(fc.constantFrom('points', 'goals'), decimalText, { maxKeys: 2 }),
  },
  { requiredKeys: ['rank', 'columns'] },
);
const moved = fc.array(fc.record({ playerId: id, rankBefore: count, rankAfter: count }), {
  maxLength: 2,
});
const source = fc.record({ topic: fc.string(), partition: fc.nat(), offset: fc.maxSafeNat() });

const movement = fc.record(
  {
    view: fc.constant('all'),
    version: count,
    before: fc.option(placing),
    after: fc.option(placing),
    overtook: moved,
  },
  { requiredKeys: ['view', 'version', 'before', 'after'] },
);

const leaderChange: fc.Arbitrary<LeaderChange> = fc.record({
  board: fc.constant('arena'),
  generation: fc.constant('1763629200000000-0a1b'),
  view: fc.constant('all'),
  version: count,
  since: fc.option(count),
  source,
  occurredAt: time,
  top: fc.array(
    fc
      .tuple(id, count, placing)
      .map(([playerId, competitionRank, place]) => ({ competitionRank, ...place, playerId })),
    { maxLength: 2 },
  ),
  entered: fc.array(fc.record({ playerId: id, rank: count }), { maxLength: 2 }),
  left: fc.array(fc.record({ playerId: id, rankBefore: count }), { maxLength: 2 }),
  moved,
});

const rankChange: fc.Arbitrary<RankChange> = fc.record(
  {
    board: fc.constant('arena'),
    generation: fc.constant('1763629200000000-0a1b'),
    playerId: id,
    source,
    eventId: id,
    occurredAt: time,
    changes: fc.array(movement, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['board', 'generation', 'playerId', 'source', 'occurredAt', 'changes'] },
);

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
