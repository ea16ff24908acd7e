import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalColumns, parseState, sortKey } from '#board';
import { PLAYER_IDS, runs, timeArbitrary, valueArbitrary } from './arbitrary.js';
import { definitionArbitrary } from './definitions.js';
import { eventArbitrary } from './inputs.js';
import { Oracle } from './oracle.js';
import { decimalsOf, memberOf, stateText } from './oracle-format.js';

/** The promise that all else rests on, checked where it is cheap: apply.test.ts shows that the store equals the oracle. */
describe('the updates of a board', () => {
  it('give the same bytes in any order, as long as no sum leaves the range', () => {
    const everyEventCounts = definitionArbitrary('arena').filter(
      ({ deduplicateMs }) => deduplicateMs === undefined,
    );
    const shuffled = everyEventCounts.chain((definition) =>
      fc
        .array(eventArbitrary(definition, ['a', 'b', 'c']), { maxLength: 12, size: 'max' })
        .chain((events) =>
          fc.tuple(
            fc.constant(definition),
            fc.constant(events),
            fc.shuffledSubarray(events, { minLength: events.length }),
          ),
        ),
    );
    fc.assert(
      fc.property(shuffled, ([definition, ...orders]) => {
        const boards = orders.map((events) => {
          const oracle = new Oracle([definition]);
          for (const event of events) oracle.apply('arena', event);
          const { overflowed, orderMattered } = oracle.memory('arena');
          fc.pre(!overflowed && !orderMattered);
          return oracle.views('arena').map((view) => [view, oracle.bytes('arena', view)]);
        });
        expect(boards[1]).toEqual(boards[0]);
      }),
      runs(1_000),
    );
  });
});

describe('the formats of libs/board', () => {
  it('are those of the oracle: states, sort keys, decimals', () => {
    const players = definitionArbitrary('arena').chain((definition) =>
      fc.record({
        definition: fc.constant(definition),
        playerId: fc.constantFrom(...PLAYER_IDS),
        state: fc.tuple(
          ...definition.columns.map(() =>
            fc.record({ value: valueArbitrary, time: timeArbitrary, settled: fc.boolean() }),
          ),
        ),
      }),
    );
    fc.assert(
      fc.property(players, ({ definition, playerId, state }) => {
        expect(parseState(stateText(state))).toEqual(state);
        const { score, member } = sortKey(state, definition.ties, playerId);
        expect(score).toBe(state[0]!.value);
        expect(member).toEqual(memberOf(state, definition.ties, playerId));
        const values = state.map(({ value }) => value);
        expect(decimalColumns(definition, values)).toEqual(decimalsOf(definition, state));
      }),
      runs(1_000),
    );
  });
});
