import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalColumns, parseState, TIES, type Ties } from '#board';
import { PLAYER_IDS, runs, timeArbitrary, valueArbitrary } from './arbitrary.js';
import { definitionArbitrary } from './definitions.js';
import { eventArbitrary } from './inputs.js';
import { Oracle } from './oracle.js';
import { decimalsOf, memberOf, reachTimeOf, stateText } from './oracle-format.js';

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
  it('equal those of the oracle: states and decimals', () => {
    const players = definitionArbitrary('arena').chain((definition) =>
      fc.record({
        definition: fc.constant(definition),
        state: fc.tuple(
          ...definition.columns.map(() =>
            fc.record({ value: valueArbitrary, time: timeArbitrary, settled: fc.boolean() }),
          ),
        ),
      }),
    );
    fc.assert(
      fc.property(players, ({ definition, state }) => {
        expect(parseState(stateText(state))).toEqual(state);
        const values = state.map(({ value }) => value);
        expect(decimalColumns(definition, values)).toEqual(decimalsOf(definition, state));
      }),
      runs(1_000),
    );
  });
});

/** Redis orders a sorted set by score, then by the bytes of the member. */
describe('the score and the member of a player', () => {
  const time = fc.oneof(
    timeArbitrary,
    fc.constantFrom(Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')),
  );
  const playerOf = (columns: number) =>
    fc.record({
      state: fc.array(fc.record({ value: valueArbitrary, time, settled: fc.boolean() }), {
        minLength: columns,
        maxLength: columns,
      }),
      playerId: fc.constantFrom(...PLAYER_IDS),
    });
  type Player = ReturnType<typeof playerOf> extends fc.Arbitrary<infer P> ? P : never;

  const byColumnsTimeAndId = (ties: Ties, a: Player, b: Player): number => {
    const column = a.state.findIndex(({ value }, index) => value !== b.state[index]!.value);
    if (column >= 0) return a.state[column]!.value < b.state[column]!.value ? -1 : 1;
    const [timeA, timeB] = [reachTimeOf(a.state), reachTimeOf(b.state)];
    if (ties !== 'none' && timeA !== timeB) return timeA < timeB === (ties === 'earliest') ? -1 : 1;
    return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
  };

  const byBytes = (ties: Ties, a: Player, b: Player): number =>
    Math.sign(a.state[0]!.value - b.state[0]!.value) ||
    Buffer.compare(memberOf(a.state, ties, a.playerId), memberOf(b.state, ties, b.playerId));

  it('order players by columns, reach time and id', () => {
    const pairs = fc
      .integer({ min: 1, max: 8 })
      .chain((columns) => fc.tuple(playerOf(columns), playerOf(columns), fc.constantFrom(...TIES)));
    const similarPairs = pairs.chain(([a, b, ties]) => {
      const others = fc.constantFrom<Player>(
        b,
        { ...a, playerId: b.playerId },
        { ...a, state: a.state.with(-1, b.state.at(-1)!) },
        { ...a, state: a.state.map((column) => ({ ...column, time: b.state[0]!.time })) },
      );
      return others.map((other) => [a, other, ties] as const);
    });
    fc.assert(
      fc.property(similarPairs, ([a, b, ties]) => {
        expect(byBytes(ties, a, b)).toBe(byColumnsTimeAndId(ties, a, b));
      }),
      runs(4_000),
    );
  });
});
