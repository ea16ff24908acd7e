import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { definitionArbitrary, logsArbitrary, type LogRecord } from './arbitrary.js';

/** What one caller does next with a partition: sizes and distances count records. */
export interface Step {
  readonly partition: number;
  /** How many records it has not seen yet. */
  readonly size: number;
  /** How many it repeats, as after a lost reply or a restart. */
  readonly back: number;
  /** It believes in a watermark and a published position of long ago, as a zombie does. */
  readonly stale: boolean;
  /** How far the published position moves first: a share of what was applied and not yet published. */
  readonly publish: number;
}

export interface Scenario {
  readonly definitions: readonly BoardDefinition[];
  readonly logs: readonly (readonly LogRecord[])[];
  /** The share of each log that was published before, by a store that is lost. */
  readonly publishedBefore: readonly number[];
  /** Two ways through the same logs, on stores with that many shards. */
  readonly ways: readonly { readonly shards: number; readonly steps: readonly Step[] }[];
}

const MOST_PARTITIONS = 4;
const RECORDS = 14;

export const scenarioArbitrary: fc.Arbitrary<Scenario> = fc
  .tuple(
    fc
      .integer({ min: 1, max: 3 })
      .chain((boards) =>
        fc.tuple(...Array.from({ length: boards }, (_, index) => definitionArbitrary(`b${index}`))),
      ),
    fc.integer({ min: 1, max: MOST_PARTITIONS }),
  )
  .chain(([definitions, partitions]) =>
    fc.record({
      definitions: fc.constant(definitions),
      logs: logsArbitrary(definitions, { partitions, records: RECORDS }),
      publishedBefore: fc.array(fc.constantFrom(0, 0, 0, 0.3, 1), {
        minLength: partitions,
        maxLength: partitions,
      }),
      ways: fc.tuple(wayArbitrary(partitions), wayArbitrary(partitions)),
    }),
  );

function wayArbitrary(partitions: number) {
  return fc.record({
    shards: fc.constantFrom(1, 2),
    steps: fc.array(stepArbitrary(partitions), { maxLength: 25, size: 'max' }),
  });
}

function stepArbitrary(partitions: number): fc.Arbitrary<Step> {
  return fc.record({
    partition: fc.nat({ max: partitions - 1 }),
    size: fc.nat({ max: 5 }),
    back: fc.oneof(
      { weight: 2, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat({ max: RECORDS }) },
    ),
    stale: fc.boolean(),
    publish: fc.constantFrom(0, 0, 0.5, 1),
  });
}
