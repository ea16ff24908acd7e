import fc from 'fast-check';
import { RECORDS } from './logs.js';

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** What one caller does next with a partition. */
export type ApplyStep = Of<ReturnType<typeof applyStepArbitrary>>;

/** What happens next to the store. */
export type StoreStep = Of<typeof calmArbitrary> | Of<typeof mishapArbitrary>;

/** What happens next to a board. */
export type BoardStep = Of<ReturnType<typeof boardStepsArbitrary>[number]['arbitrary']>;
export type BoardStepOf<K extends BoardStep['kind']> = Extract<BoardStep, { readonly kind: K }>;

/** Sizes and distances count records. */
export function applyStepArbitrary(partitions: number) {
  const records = fc.nat({ max: RECORDS });
  return fc.record({
    kind: fc.constant('apply'),
    partition: fc.nat({ max: partitions - 1 }),
    /** How many new records it applies. */
    size: fc.nat({ max: 5 }),
    /** How many earlier records it applies again, as after a lost reply or a restart. */
    back: seldom(2, records, 0),
    /**
     * How many records an additional first run leaves out, as after a fetch that skipped records:
     * the store has to refuse it.
     */
    skip: seldom(5, records, 0),
    /**
     * Whether it believes in an applied offset and a published position of long ago, as a zombie
     * does.
     */
    stale: fc.boolean(),
    /** After how many calls that settle player records it is killed. */
    killed: seldom(3, fc.nat({ max: 3 }), Infinity),
    /**
     * How far the published position moves first: a share of what was applied and not yet
     * published.
     */
    publish: fc.constantFrom(0, 0, 0.5, 1),
  });
}

/**
 * Sweeps expired views; saves all keys; frees generations that are not needed; writes missing
 * definition records.
 */
export const calmArbitrary = fc.record({
  kind: fc.constantFrom('sweep', 'sweep', 'save', 'save', 'clean', 'record'),
});

/** Deletes all keys, or restores the last save, as a failover or a backup does. */
export const mishapArbitrary = fc.record({
  kind: fc.constantFrom('lose', 'restore', 'restore'),
  /**
   * For `lose`: whether the shards are resynced before the boards are registered; otherwise after.
   */
  first: fc.boolean(),
});

/** All kinds of steps of a board, each with its weight. */
export function boardStepsArbitrary(boards: number, partitions: number) {
  const ofEach = <T>(arbitrary: fc.Arbitrary<T>) => {
    const all = Array.from({ length: partitions }, () => arbitrary);
    return fc.tuple(...all) as fc.Arbitrary<readonly T[]>;
  };
  const sizes = ofEach(fc.nat({ max: 8 }));
  const board = fc.nat({ max: boards - 1 });
  const variant = fc.nat({ max: 2 });
  const recorded = fc.boolean();
  /**
   * What a builder works on if it has no shadow to feed or promote: one of the board's definitions,
   * or the previous generation.
   */
  const instead = fc.constantFrom(0, 0, 1, 2, 'previous' as const);
  const begin = fc.record({
    kind: fc.constant('begin'),
    board,
    variant,
    /** Where it begins in each partition, as shares of the log. */
    starts: seldom(3, ofEach(fc.constantFrom(0, 0, 0.2, 0.5, 1, 1.2))),
  });
  const feed = fc.record({
    kind: fc.constant('feed'),
    board,
    instead,
    /** How many new records of each partition the builder applies. `back`: how many it repeats. */
    sizes,
    back: fc.constantFrom(0, 0, 0, 2, RECORDS),
  });
  const promotion = fc.record({
    kind: fc.constant('promote'),
    board,
    instead,
    /** Usually the whole log. */
    sizes: seldom(4, sizes),
    /**
     * Whether the generation that was live gets a grace time, so that a rollback can promote it
     * later.
     */
    kept: fc.constantFrom(true, true, true, false),
    /**
     * Whether the definition record is written; if not, the builder is killed before it writes the
     * record.
     */
    recorded: fc.constantFrom(true, true, false),
  });
  /** How many steps of ranking a build; the first one finds its views. */
  const rank = fc.record({
    kind: fc.constant('rank'),
    board,
    steps: fc.constantFrom(1, 2, 2, 3, 9),
  });
  const meanwhile = fc.oneof(
    { weight: 5, arbitrary: applyStepArbitrary(partitions) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('sweep', 'sweepShadow') }) },
  );
  const verify = fc.record({
    kind: fc.constant('verify'),
    board,
    /** What happens between the calls of the comparison. */
    between: fc.array(meanwhile, { maxLength: 8, size: 'max' }),
  });
  /**
   * `steal`: another process takes the lease, and calls of the builder that had it must have no
   * effect.
   */
  const other = fc.constantFrom(
    ...(['beginRollback', 'beginRollback', 'kill', 'steal', 'discard', 'sweepShadow'] as const),
  );
  return [
    { weight: 11, arbitrary: begin },
    { weight: 10, arbitrary: feed },
    { weight: 18, arbitrary: promotion },
    { weight: 6, arbitrary: rank },
    { weight: 6, arbitrary: verify },
    { weight: 11, arbitrary: fc.record({ kind: other, board }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), board, recorded }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('register'), board, variant }) },
  ];
}

/** `usual` in `weight` of `weight + 1` cases. */
function seldom<T, U = undefined>(weight: number, arbitrary: fc.Arbitrary<T>, usual?: U) {
  return fc.oneof({ weight, arbitrary: fc.constant(usual as U) }, { weight: 1, arbitrary });
}
