import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import type { EventEntry, Shadow } from '#board-store';
import { ShadowQueue } from './shadow-queue.js';

const [arena] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'boards.yaml',
);
if (arena === undefined) throw new Error('the file defines no board');
const definition = arena;

function snapshot(ends: ReadonlyMap<number, number>): Shadow {
  return { board: 'arena', generation: 'g', definition, purpose: 'snapshot', ends };
}

function entry(offset: number): EventEntry {
  const event = { playerId: 'p', occurredAt: 0, values: [1], views: [] };
  return { kind: 'event', offset, board: 'arena', event };
}

describe('the queue of a snapshot', () => {
  it('is at its ends when all is applied, though live ingest has not reached the markers after it', () => {
    const queue = new ShadowQueue(snapshot(new Map([[0, 5]])), new Map());
    queue.add(0, entry(2));
    queue.advance(0, 3);
    expect(queue.isAtEnds).toBe(false);
    queue.advance(0, 5);
    expect(queue.isAtEnds).toBe(false);
    queue.heard(new Map([[0, { shadow: 2, live: 2 }]]));
    expect(queue.isAtEnds).toBe(true);
  });

  it('takes in nothing behind its ends', () => {
    const queue = new ShadowQueue(snapshot(new Map([[0, 2]])), new Map());
    for (const offset of [1, 2, 3]) queue.add(0, entry(offset));
    queue.advance(0, 4);
    queue.heardLive(new Map([[0, 9]]));
    const { stretches } = queue.next({ entries: 10, viewUpdates: 10 });
    expect(stretches).toMatchObject([{ from: 0, through: 1, entries: [{ offset: 1 }] }]);
    expect(queue.wants(0)).toBe(false);
  });
});
