import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedView } from '#board';
import type { EventEntry } from '#board-store';
import type { ReadRecord } from './read-record.js';
import { MOST_ENTRIES, MOST_VIEW_UPDATES, splitRuns } from './split-calls.js';

const event = (offset: number, views: number): { entry: EventEntry } => ({
  entry: {
    kind: 'event',
    offset,
    board: 'arena',
    event: {
      playerId: 'p',
      occurredAt: 0,
      values: [1],
      views: Array<ResolvedView>(views).fill({ view: 'all', expiresAt: null, published: true }),
    },
  },
});

/** Records with gaps between their offsets, as transactions and dead batches leave them. */
const records = fc
  .array(
    fc.record({ gap: fc.integer({ min: 1, max: 3 }), views: fc.integer({ min: 1, max: 40 }) }),
    {
      minLength: 0,
      maxLength: 1_500,
    },
  )
  .map((steps) => {
    let offset = -1;
    return steps.map(({ gap, views }) => event((offset += gap), views));
  });

describe('splitRuns', () => {
  it('covers every offset once and in order, within the bounds, and never straddles the published position', () => {
    fc.assert(
      fc.property(
        records,
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        fc.nat(3),
        fc.integer({ min: 1, max: 3 }),
        (items, at, head, tail) => {
          const begin = Math.max(0, (items[0]?.entry.offset ?? 0) - head);
          const nextOffset = (items.at(-1)?.entry.offset ?? 0) + tail;
          const published = Math.floor(at * nextOffset);
          const position = { from: begin, nextOffset, published };
          const runs = splitRuns(items, { ...position, boards: new Map() });

          expect(runs.flatMap((run) => run.items)).toEqual(items);
          expect(runs.at(-1)?.through).toBe(nextOffset - 1);
          let from = begin;
          for (const run of runs) {
            expect(run.from).toBe(from);
            expect(run.from < published && run.through >= published).toBe(false);
            expect(run.items.length).toBeLessThanOrEqual(MOST_ENTRIES);
            expect(updates(run.items)).toBeLessThanOrEqual(MOST_VIEW_UPDATES);
            expect(
              run.items.every(({ entry }) => entry.offset >= from && entry.offset <= run.through),
            ).toBe(true);
            from = run.through + 1;
          }
        },
      ),
    );
  });

  it('counts the players whom a board names: tops once a view and run, the passed at every event', () => {
    const tops = runsOf({ overtook: 0, leaders: 100 }, (offset) => `day:${offset}`);
    expect(tops).toEqual([333, 67]); // 1 + 100/20 updates each
    expect(runsOf({ overtook: 0, leaders: 100 }, () => 'all')).toEqual([400]);
    expect(runsOf({ overtook: 100, leaders: 0 }, () => 'all')).toEqual([333, 67]);
  });
});

function updates(items: readonly Pick<ReadRecord, 'entry'>[]): number {
  return items.reduce(
    (sum, { entry }) => sum + (entry.kind === 'event' ? entry.event.views.length : 0),
    0,
  );
}

/** How many of 400 events of one view each go into each run. */
function runsOf(publish: object, viewOf: (offset: number) => string): number[] {
  const definition = { publish } as BoardDefinition;
  const items = Array.from({ length: 400 }, (_, offset) => {
    const { entry } = event(offset, 0);
    const views = [{ view: viewOf(offset), expiresAt: null, published: true }];
    return { entry: { ...entry, event: { ...entry.event, views } } };
  });
  const boards = new Map([['arena', { definition }]]);
  const runs = splitRuns(items, { from: 0, published: 0, nextOffset: 400, boards });
  return runs.map((run) => run.items.length);
}
