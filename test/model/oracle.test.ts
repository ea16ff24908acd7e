import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveRecord, type BoardDefinition, type ResolvedEvent } from '#board';
import { arena } from '../board-store/fixture.js';
import { knownAndNewRuns, PLAYER_IDS, runs } from './arbitrary.js';
import { definitionArbitrary } from './definitions.js';
import { eventArbitrary, inputArbitrary } from './inputs.js';
import { Oracle } from './oracle.js';
import { resolvePlainlyAt } from './oracle-resolve.js';

describe('the updates of a board', () => {
  it('give the same bytes in any order, without deduplicate, if no event is refused for a sum or for maxViews', () => {
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

describe('an event in the terms of its board', () => {
  const sent = definitionArbitrary('arena').chain((definition) =>
    fc.tuple(
      fc.constant(definition),
      fc.array(inputArbitrary(definition, PLAYER_IDS), { minLength: 1, maxLength: 8 }),
      fc.subarray([0, 1, 2, 3, 4]),
      fc.constantFrom(1, 1, 1, 2), // the voids are of partition 1
      fc.constantFrom([], [], [0], [1, 2]), // what the last event retries
    ),
  );

  it.each(knownAndNewRuns(1_500))(
    'has the values and views of the oracle, or is refused for a reason that the oracle has, too (%s)',
    (parameters) => {
      let [taken, late, withoutViews, retries] = [0, 0, 0, 0];
      fc.assert(
        fc.property(sent, ([own, events, offsets, partition, retried]) => {
          const placeOf = (offset: number) => {
            // The place of offset 4 is one of an earlier topic.
            return { partition: 1, offset, timestamp: events[offset % 4]?.timestamp ?? 0 };
          };
          const definition = { ...own, voids: offsets.map(placeOf) };
          for (const [offset, event] of events.entries()) {
            const { timestamp } = event;
            const isLast = offset === events.length - 1 && offset > 0;
            const retryOf = isLast ? retried.map(placeOf) : [];
            const input = { ...event.input, ...(retryOf.length > 0 && { retryOf }) };
            const plain = resolvePlainlyAt(definition, { input, timestamp }, { partition, offset });
            const found = resolveRecord(definition, input, partition, { offset, timestamp });
            if (retryOf.length > 0 && found.ok && found.event.views.length === 0) retries++;
            if (found.ok && found.event.views.length === 0) withoutViews++;
            if (found.ok) {
              taken++;
              expect([...plain.reasons]).toEqual([]);
              expect(found.event).toEqual(plain.event);
            } else expect([...plain.reasons]).toContain(found.code);
            if (plain.reasons.has('WINDOW_CLOSED')) late++;
          }
        }),
        parameters,
      );
      expect(taken).toBeGreaterThan(parameters.numRuns);
      expect(late).toBeGreaterThan(parameters.numRuns / 60);
      expect(withoutViews).toBeGreaterThan(parameters.numRuns / 4);
      expect(retries).toBeGreaterThan(parameters.numRuns / 20);
    },
  );
});

describe('the checks of an event, in their order', () => {
  /** The views of the season expire at 100 ms on the event clock. */
  const board: BoardDefinition = {
    ...arena,
    windows: [{ kind: 'all' }, { kind: 'season', name: 's', from: 0, to: 90, keepMs: 10 }],
    dimensions: [['x']],
    maxViews: 2,
    deduplicateMs: 50,
  };
  const all = (x: number) => ({ view: `all x=${x}`, expiresAt: null, published: true });
  const season = { view: 'season:s x=1', expiresAt: 100, published: true };
  const at = (
    occurredAt: number,
    views: ResolvedEvent['views'] = [all(1)],
    fields: Partial<ResolvedEvent> = {},
  ) => {
    return { playerId: 'a', occurredAt, values: [1], views, ...fields };
  };
  const [x, most] = [{ eventId: 'x' }, { values: [Number.MAX_SAFE_INTEGER] }];

  interface Case {
    readonly events: readonly ResolvedEvent[];
    /** The reason for which the last event is refused, if it is. */
    readonly code: string | undefined;
    /** The event clock, the number of events with an expired view, and the number of duplicates. */
    readonly facts: readonly number[];
  }

  it.each`
    what                                                         | events                                                           | code                | facts
    ${'a duplicate moves the clock'}                             | ${[at(80, [all(1)], x), at(120, [all(1)], x), at(90, [season])]} | ${'WINDOW_EXPIRED'} | ${[120, 1, 1]}
    ${'a duplicate is not late'}                                 | ${[at(120, [all(1)], x), at(90, [season], x)]}                   | ${undefined}        | ${[120, 0, 1]}
    ${'the id of a late event is remembered'}                    | ${[at(120), at(90, [season], x), at(110, [all(1)], x)]}          | ${undefined}        | ${[120, 1, 1]}
    ${'an event ends its own view'}                              | ${[at(100, [season])]}                                           | ${'WINDOW_EXPIRED'} | ${[100, 1, 0]}
    ${'expired views do not count for maxViews'}                 | ${[at(90, [season, all(1)]), at(120, [all(2)])]}                 | ${undefined}        | ${[120, 0, 0]}
    ${'a late event with too many views counts as expired, too'} | ${[at(120, [all(1), all(2)]), at(90, [season, all(3)])]}         | ${'TOO_MANY_VIEWS'} | ${[120, 1, 0]}
    ${'too many views are found before a sum out of range'}      | ${[at(1, [all(1), all(2)], most), at(1, [all(1), all(3)])]}      | ${'TOO_MANY_VIEWS'} | ${[1, 0, 0]}
    ${'a sum in an expired view is not checked'}                 | ${[at(90, [season], most), at(120), at(90, [season, all(1)])]}   | ${undefined}        | ${[120, 1, 0]}
  `('$what', (row) => {
    const { events, code, facts } = row as unknown as Case;
    const oracle = new Oracle([board]);
    const { verdict } = events.map((event) => oracle.apply('arena', event)).at(-1)!;
    expect(verdict?.kind === 'deadLetter' ? verdict.code : undefined).toBe(code);
    const { clock, expired, duplicates } = oracle.memory('arena');
    expect([clock, expired, duplicates]).toEqual(facts);
  });
});
