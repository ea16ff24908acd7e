import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { definitionArbitrary } from './definitions.js';
import { sentLogsArbitrary, type SentRecord } from './logs.js';
import { applyStepArbitrary, type ApplyStep } from './scenario.js';

/** What happens next to a board, beside what befalls the store as a whole. Sizes and distances count records. */
export type ReconcileStep = ApplyStep | ShardStep | BoardStep;

/** What befalls the store; see scenario.ts. `first`: whether it is compared with Kafka before boards are registered, or after. */
export type ShardStep =
  | { readonly kind: 'sweep' | 'save' | 'clean' | 'record' }
  | { readonly kind: 'lose' | 'rollback'; readonly first: boolean };

export type BoardStep = { readonly board: number } & (
  | BeginStep
  | FeedStep
  | PromotionStep
  | VerifyStep
  /** Begins a rollback; discards, keeps or sweeps the shadow; removes a snapshot. */
  | { readonly kind: 'beginRollback' | 'discard' | 'keep' | 'sweepShadow' | 'dropSnapshot' }
  /** The builder is gone, or stands still until another one has its lease; then it wakes. */
  | { readonly kind: 'kill' }
  | { readonly kind: 'steal'; readonly call: number }
  | { readonly kind: 'remove'; readonly recorded: boolean }
  | { readonly kind: 'register'; readonly variant: number }
);

export interface BeginStep {
  readonly kind: 'begin';
  readonly purpose: 'build' | 'snapshot';
  /** Which of the board's definitions. */
  readonly variant: number;
  /** Where it begins and ends in each partition, as shares of the log. */
  readonly starts: readonly number[] | undefined;
  readonly ends: readonly number[];
}

/** What a builder works on when it has nothing to build: one of the board's definitions, or the previous generation. */
export interface WorkStep {
  readonly instead: number | 'previous';
}

/** How much of each partition a builder brings; `back` is what it repeats, `hole` what it leaves out. */
export interface FeedStep extends WorkStep {
  readonly kind: 'feed';
  readonly sizes: readonly number[];
  readonly back: number;
  readonly hole: boolean;
}

export interface PromotionStep extends WorkStep {
  readonly kind: 'promote';
  /** Missing: all that there is of the log. */
  readonly sizes: readonly number[] | undefined;
  /** Whether what was live may be brought back. */
  readonly kept: boolean;
  /** Whether the definition record is written; else the builder is killed before it. */
  readonly recorded: boolean;
}

/** A comparison with the log, and what happens between its calls. */
export interface VerifyStep {
  readonly kind: 'verify';
  readonly between: readonly (
    ApplyStep | { readonly kind: 'sweep' } | { readonly kind: 'sweepShadow' }
  )[];
}

export interface ReconcileScenario {
  /** By board, the definitions that it may have: the first one is in the file. */
  readonly variants: readonly (readonly BoardDefinition[])[];
  readonly keyed: boolean;
  readonly shards: number;
  readonly logs: readonly (readonly SentRecord[])[];
  readonly steps: readonly ReconcileStep[];
}

const MOST_PARTITIONS = 3;
const RECORDS = 18;
const [LEAST_STEPS, STEPS] = [15, 50];

export const reconcileScenarioArbitrary: fc.Arbitrary<ReconcileScenario> = fc
  .tuple(
    fc
      .constantFrom(1, 1, 2)
      .chain((boards) =>
        fc.tuple(...Array.from({ length: boards }, (_, index) => variantsArbitrary(`b${index}`))),
      ),
    fc.integer({ min: 1, max: MOST_PARTITIONS }),
    fc.constantFrom(true, true, false),
  )
  .chain(([variants, partitions, keyed]) =>
    fc.record({
      variants: fc.constant(variants),
      keyed: fc.constant(keyed),
      shards: fc.constantFrom(1, 2),
      logs: sentLogsArbitrary(
        variants.map(([first]) => first!),
        { partitions, records: RECORDS, keyed },
      ),
      steps: fc.array(stepArbitrary(variants.length, partitions), {
        minLength: LEAST_STEPS,
        maxLength: STEPS,
        size: 'max',
      }),
    }),
  );

/** A definition, and others that take most of its events: some of their fields are another board's. */
function variantsArbitrary(board: string): fc.Arbitrary<BoardDefinition[]> {
  const definition = definitionArbitrary(board);
  return fc
    .tuple(
      definition,
      fc.array(fc.tuple(definition, changesArbitrary), { minLength: 1, maxLength: 2 }),
    )
    .map(([first, others]) => [first, ...others.map(([other, change]) => change(first, other))]);
}

type Change = (first: BoardDefinition, other: BoardDefinition) => BoardDefinition;

const changes: readonly Change[] = [
  (first, { ties }) => ({ ...first, ties }),
  (first) => ({
    ...first,
    columns: first.columns.map((column) => ({
      ...column,
      order: column.order === 'asc' ? ('desc' as const) : ('asc' as const),
    })),
  }),
  (first) => ({
    ...first,
    columns: first.columns.map((column) =>
      column.from === undefined ? { ...column, update: 'latest' as const } : column,
    ),
  }),
  (first, { windows, dimensions, timeZone, late, publish }) => ({
    ...first,
    windows,
    dimensions,
    timeZone,
    late,
    publish,
  }),
  (first, { publish: { leaders, overtook, rankChanges, ranks } }) => ({
    ...first,
    publish: { ...first.publish, leaders, overtook, rankChanges, ranks },
  }),
  (first, { maxViews, deduplicateMs }) => ({
    ...first,
    maxViews,
    ...(deduplicateMs === undefined ? {} : { deduplicateMs }),
  }),
];

const changesArbitrary: fc.Arbitrary<Change> = fc
  .subarray([...changes], { minLength: 1, maxLength: 3 })
  .map((some) => (first, other) => some.reduce((made, change) => change(made, other), first));

function stepArbitrary(boards: number, partitions: number): fc.Arbitrary<ReconcileStep> {
  const board = fc.nat({ max: boards - 1 });
  const sizes = fc.tuple(...Array.from({ length: partitions }, () => fc.nat({ max: 8 })));
  const share = fc.constantFrom(0, 0, 0.2, 0.5, 1, 1.2);
  const shares = fc.tuple(...Array.from({ length: partitions }, () => share));
  const apply = applyStepArbitrary(partitions);
  const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
  const instead = fc.constantFrom(0, 0, 1, 2, 'previous' as const);
  const begin = fc.record({
    kind: fc.constant('begin' as const),
    board,
    purpose: fc.constantFrom(
      'build' as const,
      'build' as const,
      'build' as const,
      'snapshot' as const,
    ),
    variant: fc.nat({ max: 2 }),
    starts: fc.oneof(weighted(3, fc.constant(undefined)), weighted(1, shares)),
    ends: shares,
  });
  const feed = fc.record({
    kind: fc.constant('feed' as const),
    board,
    instead,
    sizes,
    back: fc.constantFrom(0, 0, 0, 2, RECORDS),
    hole: fc.constantFrom(false, false, false, true),
  });
  const promotion = fc.record({
    kind: fc.constant('promote' as const),
    board,
    instead,
    sizes: fc.oneof(weighted(4, fc.constant(undefined)), weighted(1, sizes)),
    kept: fc.constantFrom(true, true, true, false),
    recorded: fc.constantFrom(true, true, false),
  });
  const between = fc.oneof(
    weighted(5, apply),
    weighted(1, fc.constantFrom({ kind: 'sweep' } as const, { kind: 'sweepShadow' } as const)),
  );
  const verify = fc.record({
    kind: fc.constant('verify' as const),
    board,
    between: fc.array(between, { maxLength: 8, size: 'max' }),
  });
  const ofBoard = fc.record({
    kind: fc.constantFrom(
      ...([
        'beginRollback',
        'beginRollback',
        'beginRollback',
        'discard',
        'keep',
        'sweepShadow',
      ] as const),
      ...(['dropSnapshot', 'kill', 'kill'] as const),
    ),
    board,
  });
  const steal = fc.record({ kind: fc.constant('steal' as const), board, call: fc.nat({ max: 9 }) });
  const remove = fc.record({ kind: fc.constant('remove' as const), board, recorded: fc.boolean() });
  const register = fc.record({
    kind: fc.constant('register' as const),
    board,
    variant: fc.nat({ max: 2 }),
  });
  const calm = fc
    .constantFrom('sweep', 'save', 'save', 'clean', 'record')
    .map((kind) => ({ kind }) as const);
  const mishap = fc.record({
    kind: fc.constantFrom('lose' as const, 'rollback' as const, 'rollback' as const),
    first: fc.boolean(),
  });
  return fc.oneof(
    weighted(24, apply),
    weighted(11, begin),
    weighted(10, feed),
    weighted(18, promotion),
    weighted(6, verify),
    weighted(11, ofBoard),
    weighted(2, steal),
    weighted(1, remove),
    weighted(2, register),
    weighted(5, calm as fc.Arbitrary<ShardStep>),
    weighted(3, mishap),
  );
}
