import fc from 'fast-check';
import {
  isPlainObject,
  type LeaderChange,
  type PeriodResult,
  type PlayerRecord,
  type RankChange,
  type ScoreEvent,
} from '#contracts';

/** Random values of records: valid ones, and ones with wrong parts. */

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

/** Names that objects inherit, or that libraries treat in a special way. */
const oddName = fc.constantFrom(
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'],
);

/** Any JSON value; often an object with fields of a record. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  oddity,
  fc.jsonValue(),
  fc.dictionary(
    fc.oneof(fc.constantFrom('board', 'playerId', 'delta', 'deltas', 'source', 'changes'), oddName),
    fc.oneof(fc.constantFrom('arena', '12'), oddity),
  ),
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
export function changed(value: unknown, [key, ...rest]: Path, change: { to?: unknown }): unknown {
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
export function mutated(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
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

/** Values with up to two fields of odd names in any object: unknown fields, or entries of a map. */
export function withOddNames(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const field = fc.tuple(fc.nat(), oddName, fc.oneof(fc.constantFrom('red', '12'), oddity));
  return fc.tuple(valid, fc.array(field, { maxLength: 2 })).map(([value, fields]) =>
    fields.reduce<unknown>((now, [at, name, content]) => {
      const paths = pathsOf(now).filter((path) => isPlainObject(partAt(now, path)));
      if (paths.length === 0) return now;
      const path = paths[at % paths.length] ?? [];
      return changed(now, path, { to: { ...(partAt(now, path) as object), [name]: content } });
    }, value),
  );
}

function partAt(value: unknown, path: Path): unknown {
  return path.reduce((part, key) => (part as Record<string | number, unknown>)[key], value);
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

export const scoreEvent: fc.Arbitrary<ScoreEvent> = fc.record(
  {
    board: id,
    playerId: id,
    delta,
    deltas: fc.dictionary(fc.oneof(fc.constantFrom('points', 'goals', ''), oddName), delta, {
      maxKeys: 3,
    }),
    occurredAt: time,
    eventId: id,
    attributes: fc.dictionary(fc.oneof(fc.constantFrom('region', 'season'), oddName), attribute, {
      maxKeys: 2,
    }),
    unknown: oddity,
  },
  { requiredKeys: ['board', 'playerId'] },
);

const validDelta = fc.oneof(fc.constantFrom('0', '-1', '12.50', '9007199254740993'), fc.integer());
const validDeltas = fc.dictionary(
  fc.oneof(fc.constantFrom('points', 'goals'), oddName),
  validDelta,
  {
    minKeys: 1,
    maxKeys: 3,
  },
);
const validAttribute = fc.constantFrom('eu', 'é', [], ['red', 'blue']);

/** A score event that most boards could apply. */
export const validScoreEvent: fc.Arbitrary<ScoreEvent> = fc
  .record(
    {
      board: fc.constantFrom('arena', 'é'),
      playerId: fc.constantFrom('p-17', '😀'),
      numbers: fc.oneof(fc.record({ delta: validDelta }), fc.record({ deltas: validDeltas })),
      occurredAt: fc.constant('2026-11-20T09:00:00Z'),
      eventId: fc.constant('7d0f3c1e'),
      attributes: fc.dictionary(fc.oneof(fc.constant('region'), oddName), validAttribute),
    },
    { requiredKeys: ['board', 'playerId', 'numbers'] },
  )
  .map(({ numbers, ...others }) => ({ ...others, ...numbers }));

export const playerRecord: fc.Arbitrary<PlayerRecord> = fc.record(
  {
    board: id,
    playerId: id,
    reason: fc.oneof(id, fc.constant('speed hack')),
    by: fc.oneof(id, fc.constant('ana')),
    unknown: oddity,
  },
  { requiredKeys: ['board', 'playerId'] },
);

const count = fc.integer({ min: 1 });
const placing = fc.record(
  {
    rank: count,
    competitionRank: count,
    columns: fc.dictionary(fc.oneof(fc.constantFrom('points', 'goals'), oddName), decimalText, {
      maxKeys: 2,
    }),
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

const leaders = fc.array(
  fc
    .tuple(id, count, placing)
    .map(([playerId, competitionRank, place]) => ({ competitionRank, ...place, playerId })),
  { maxLength: 2 },
);

export const leaderChange: fc.Arbitrary<LeaderChange> = fc.record({
  board: fc.constant('arena'),
  generation: fc.constant('1763629200000000-0a1b'),
  view: fc.constant('all'),
  version: count,
  since: fc.option(count),
  source,
  occurredAt: time,
  top: leaders,
  entered: fc.array(fc.record({ playerId: id, rank: count }), { maxLength: 2 }),
  left: fc.array(fc.record({ playerId: id, rankBefore: count }), { maxLength: 2 }),
  moved,
});

export const periodResult: fc.Arbitrary<PeriodResult> = fc.record({
  board: fc.constant('arena'),
  generation: fc.constant('1763629200000000-0a1b'),
  view: fc.constant('week:2026-W47'),
  window: fc.constant('week:2026-W47'),
  start: time,
  end: time,
  revision: count,
  size: fc.nat(),
  results: leaders,
});

export const rankChange: fc.Arbitrary<RankChange> = fc.record(
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
