import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile, type BoardDefinition, type Publish, type ResolvedView } from '#board';
import type { EventEntry } from '#board-store';
import type { ReadRecord } from './read-record.js';
import { FULL_CALL, MAX_CALL_BYTES, splitRuns } from './split-calls.js';

const [arena] = parseBoardsFile('boards: { arena: { columns: [{ name: points }] } }', 'arena.yaml');
if (arena === undefined) throw new Error('the file defines no board');
const plain: BoardDefinition = arena;

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

const boards = new Map([['arena', { definition: plain }]]);

/**
 * Records with gaps between their offsets, as transaction markers and aborted records leave them.
 */
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
  it('covers every offset once and in order, within the limits of a call, and never straddles the published position', () => {
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
          const runs = [...splitRuns(items, { ...position, boards })];

          expect(runs.flatMap((run) => run.items)).toEqual(items);
          expect(runs.at(-1)?.through).toBe(nextOffset - 1);
          let from = begin;
          for (const run of runs) {
            expect(run.from).toBe(from);
            expect(run.from < published && run.through >= published).toBe(false);
            expect(run.items.length).toBeLessThanOrEqual(FULL_CALL.entries);
            expect(updates(run.items)).toBeLessThanOrEqual(FULL_CALL.viewUpdates);
            expect(
              run.items.every(({ entry }) => entry.offset >= from && entry.offset <= run.through),
            ).toBe(true);
            from = run.through + 1;
          }
        },
      ),
    );
  });

  it('counts the ranks, further columns, new views and named players of an event', () => {
    const own = (offset: number) => `day:${offset}`;
    expect(runsOf({}, () => 'all')).toEqual([500, 500]); // an event costs 2 updates
    expect(runsOf({ columns: 8 }, () => 'all')).toEqual([500, 500]); // 3.75 updates
    expect(runsOf({}, own)).toEqual([500, 500]); // 4 updates
    expect(runsOf({ columns: 8 }, own)).toEqual([347, 347, 306]); // 5.75 updates
    expect(runsOf({ publish: { leaders: 100 } }, own)).toEqual([
      142, 142, 142, 142, 142, 142, 142, 6,
    ]);
    expect(runsOf({ publish: { leaders: 100 } }, () => 'all')).toEqual([500, 500]);
    // 6 updates
    expect(runsOf({ publish: { overtook: 40 } }, () => 'all')).toEqual([333, 333, 333, 1]);
    expect(runsOf({ publish: { overtook: 40, rankChanges: 'none' } }, () => 'all')).toEqual([
      500, 500,
    ]);
  });

  it('counts no ranks and no named players for events below the published position', () => {
    const publish = { overtook: 100, leaders: 100 };
    expect(runsOf({ publish, published: 1_000 }, () => 'all')).toEqual([500, 500]);
  });

  it('limits the bytes of a call; a larger entry gets a call of its own', () => {
    const detail = 'x'.repeat(MAX_CALL_BYTES / 4);
    const letter = (offset: number, text: string) => ({
      entry: { kind: 'deadLetter' as const, offset, code: 'X', detail: text },
    });
    const details = [detail, detail, detail, detail, detail.repeat(5), ''];
    const items = details.map((text, offset) => letter(offset, text));
    const position = { from: 0, published: 0, nextOffset: items.length };
    const runs = [...splitRuns(items, { ...position, boards })];
    expect(runs.map((run) => run.items.length)).toEqual([3, 1, 1, 1]);
  });
});

function updates(items: readonly Pick<ReadRecord, 'entry'>[]): number {
  return items.reduce(
    (sum, { entry }) => sum + (entry.kind === 'event' ? entry.event.views.length : 0),
    0,
  );
}

interface Board {
  readonly publish?: Partial<Publish>;
  readonly columns?: number;
  readonly published?: number;
}

/** Splits 1,000 events that change one view each; returns the number of events in each run. */
function runsOf(
  { publish = {}, columns = 1, published = 0 }: Board,
  viewOf: (offset: number) => string,
): number[] {
  const definition = {
    ...plain,
    columns: Array.from({ length: columns }, () => plain.columns[0]!),
    publish: { ...plain.publish, ...publish },
  };
  // events of the same views share a list: see viewsOf
  const lists = new Map<string, ResolvedView[]>();
  const items = Array.from({ length: 1_000 }, (_, offset) => {
    const { entry } = event(offset, 0);
    const view = viewOf(offset);
    const views = lists.get(view) ?? [{ view, expiresAt: null, published: true }];
    lists.set(view, views);
    return { entry: { ...entry, event: { ...entry.event, views } } };
  });
  const boards = new Map([['arena', { definition }]]);
  const runs = [...splitRuns(items, { from: 0, published, nextOffset: 1_000, boards })];
  return runs.map((run) => run.items.length);
}
