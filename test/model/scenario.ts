import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { definitionArbitrary } from './definitions.js';
import { logsArbitrary, type LogRecord } from './logs.js';

/** What happens next: a caller goes on, or something befalls the store. */
export type Step =
  | ApplyStep
  /** Expired views are removed. */
  | { readonly kind: 'sweep' }
  /** All keys are gone. */
  | { readonly kind: 'lose' }
  /** All keys are as they were at the last `save`: a failover, a backup. Nothing happens when there was none. */
  | { readonly kind: 'save' }
  | { readonly kind: 'rollback' };

/** What one caller does next with a partition: sizes and distances count records. */
export interface ApplyStep {
  readonly kind: 'apply';
  readonly partition: number;
  /** How many records it has not seen yet. */
  readonly size: number;
  /** How many it repeats, as after a lost reply or a restart. */
  readonly back: number;
  /** How many it leaves out first, as after a fetch that did not follow on: the store has to refuse the rest. */
  readonly skip: number;
  /** It believes in an applied offset and a published position of long ago, as a zombie does. */
  readonly stale: boolean;
  /** How far the published position moves first: a share of what was applied and not yet published. */
  readonly publish: number;
}

export interface Scenario {
  readonly definitions: readonly BoardDefinition[];
  /** Whether all events of a player are in one partition. */
  readonly keyed: boolean;
  readonly logs: readonly (readonly LogRecord[])[];
  /** Two ways through the same logs, on stores with that many shards. */
  readonly ways: readonly { readonly shards: number; readonly steps: readonly Step[] }[];
}

const MOST_PARTITIONS = 4;
const RECORDS = 18;

export const scenarioArbitrary: fc.Arbitrary<Scenario> = fc
  .tuple(
    fc
      .constantFrom(1, 1, 1, 2, 3)
      .chain((boards) =>
        fc.tuple(...Array.from({ length: boards }, (_, index) => definitionArbitrary(`b${index}`))),
      ),
    fc.integer({ min: 1, max: MOST_PARTITIONS }),
    fc.constantFrom(true, true, false),
  )
  .chain(([definitions, partitions, keyed]) =>
    fc.record({
      definitions: fc.constant(definitions),
      keyed: fc.constant(keyed),
      logs: logsArbitrary(definitions, { partitions, records: RECORDS, keyed }),
      ways: fc.tuple(wayArbitrary(partitions), wayArbitrary(partitions)),
    }),
  );

function wayArbitrary(partitions: number) {
  const apply = { weight: 20, arbitrary: applyStepArbitrary(partitions) };
  const mishaps = (['sweep', 'sweep', 'lose', 'save', 'rollback'] as const).map((kind) => ({
    weight: 1,
    arbitrary: fc.constant({ kind }),
  }));
  return fc.record({
    shards: fc.constantFrom(1, 2),
    steps: fc.array<Step>(fc.oneof(apply, ...mishaps), { maxLength: 25, size: 'max' }),
  });
}

export function applyStepArbitrary(partitions: number): fc.Arbitrary<ApplyStep> {
  return fc.record({
    kind: fc.constant('apply'),
    partition: fc.nat({ max: partitions - 1 }),
    size: fc.nat({ max: 5 }),
    back: fc.oneof(
      { weight: 2, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat({ max: RECORDS }) },
    ),
    skip: fc.oneof(
      { weight: 5, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat({ max: RECORDS }) },
    ),
    stale: fc.boolean(),
    publish: fc.constantFrom(0, 0, 0.5, 1),
  });
}
