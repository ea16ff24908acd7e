import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveEvent } from '#board';
import { knownAndNewRuns, PLAYER_IDS } from './arbitrary.js';
import { definitionArbitrary } from './definitions.js';
import { inputArbitrary } from './inputs.js';
import { resolvePlainly } from './oracle-resolve.js';

const sent = definitionArbitrary('arena').chain((definition) =>
  fc.tuple(
    fc.constant(definition),
    fc.array(inputArbitrary(definition, PLAYER_IDS), { minLength: 1, maxLength: 8 }),
  ),
);

describe('an event in the terms of its board', () => {
  it.each(knownAndNewRuns(1_500))(
    'has the values and views of the oracle, or is refused for one of its reasons (%s)',
    (parameters) => {
      let taken = 0;
      fc.assert(
        fc.property(sent, ([definition, events]) => {
          for (const event of events) {
            const plain = resolvePlainly(definition, event);
            const found = resolveEvent(definition, event.input, event.timestamp);
            if (found.ok) {
              taken++;
              expect([...plain.reasons]).toEqual([]);
              expect(found.event).toEqual(plain.event);
            } else expect([...plain.reasons]).toContain(found.rejection.code);
          }
        }),
        parameters,
      );
      expect(taken).toBeGreaterThan(parameters.numRuns);
    },
  );
});
