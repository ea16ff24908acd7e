import fc from 'fast-check';
import type { BoardDefinition } from '#board';
import { definitionArbitrary, variantsArbitrary } from './definitions.js';
import { logsArbitrary, placed, type SentRecord } from './logs.js';
import {
  applyStepArbitrary,
  boardStepsArbitrary,
  calmArbitrary,
  mishapArbitrary,
  type ApplyStep,
  type BoardStep,
  type StoreStep,
} from './steps.js';

/**
 * What happens next: a caller goes on, something happens to the store, or a builder works on a
 * board.
 */
export type Step = ApplyStep | StoreStep | BoardStep;

export interface Scenario {
  /** By board, the definitions that it can have; the boards file has the first one. */
  readonly variants: readonly (readonly BoardDefinition[])[];
  /** Whether all events of a player are in one partition. */
  readonly keyed: boolean;
  readonly shards: number;
  readonly logs: readonly (readonly SentRecord[])[];
  readonly steps: readonly Step[];
}

/** Live ingest, with sweeps and losses of Redis, but without builders. */
export const applyScenarioArbitrary = scenarioArbitrary({
  boards: fc.constantFrom(1, 1, 1, 2, 3),
  variants: (board) => definitionArbitrary(board).map((definition) => [definition]),
  mostPartitions: 4,
  steps: (_boards, partitions) => {
    const apply = { weight: 20, arbitrary: applyStepArbitrary(partitions) };
    const [calm, mishap] = [calmArbitrary, mishapArbitrary];
    const step = fc.oneof(apply, { weight: 3, arbitrary: calm }, { weight: 2, arbitrary: mishap });
    return fc.array(step, { maxLength: 25, size: 'max' });
  },
});

/** Live ingest with concurrent reconciliations. */
export const reconcileScenarioArbitrary = scenarioArbitrary({
  boards: fc.constantFrom(1, 1, 2),
  variants: variantsArbitrary,
  mostPartitions: 3,
  steps: (boards, partitions) => {
    const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
      { weight: 24, arbitrary: applyStepArbitrary(partitions) },
      ...boardStepsArbitrary(boards, partitions),
      { weight: 5, arbitrary: calmArbitrary },
      { weight: 3, arbitrary: mishapArbitrary },
    );
    return fc.array(step, { minLength: 15, maxLength: 50, size: 'max' });
  },
});

interface Shape {
  readonly boards: fc.Arbitrary<number>;
  readonly variants: (board: string) => fc.Arbitrary<BoardDefinition[]>;
  readonly mostPartitions: number;
  readonly steps: (boards: number, partitions: number) => fc.Arbitrary<Step[]>;
}

function scenarioArbitrary(shape: Shape): fc.Arbitrary<Scenario> {
  const variants = shape.boards.chain((boards) =>
    fc.tuple(...Array.from({ length: boards }, (_, index) => shape.variants(`b${index}`))),
  );
  const partitions = fc.integer({ min: 1, max: shape.mostPartitions });
  return fc
    .tuple(variants, partitions, fc.constantFrom(true, true, false))
    .chain(([variants, partitions, keyed]) => {
      const definitions = variants.map(([first]) => first!);
      return fc.record({
        variants: fc.constant(variants),
        keyed: fc.constant(keyed),
        shards: fc.constantFrom(1, 2),
        logs: logsArbitrary(definitions, { partitions, keyed }),
        steps: shape.steps(variants.length, partitions),
        voids: fc.array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 9, size: 'max' }),
      });
    })
    .map(({ voids, ...scenario }) => withVoids(scenario, voids));
}

/**
 * Voids events and player records of the log: in the definitions that each board has, and in a copy
 * of the first one, which is what `ranklog scores void` builds. `picks` has numbers of events for
 * each definition.
 */
function withVoids(scenario: Scenario, picks: readonly (readonly number[])[]): Scenario {
  const rest = [...picks];
  const records = scenario.logs.flatMap(placed);
  const variants = scenario.variants.map((own, board) => {
    const places = records.flatMap((record) => {
      if (record.kind === 'deadLetter' || record.board !== board) return [];
      const { partition, offset } = record;
      const timestamp = record.kind === 'event' ? record.sent.timestamp : record.sent.time;
      return [{ partition, offset, timestamp }];
    });
    const voiding = (definition: BoardDefinition): BoardDefinition => {
      const picked = new Set(rest.shift()?.map((pick) => places[pick % places.length]));
      const voids = places.filter((place) => picked.has(place));
      return voids.length === 0 ? definition : { ...definition, voids };
    };
    const [first, ...others] = own.map(voiding);
    return others.length === 0 ? [first!] : [first!, voiding(own[0]!), ...others].slice(0, 3);
  });
  return { ...scenario, variants };
}
