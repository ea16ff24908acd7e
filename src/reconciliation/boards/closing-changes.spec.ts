import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { closingChanges } from './closing-changes.js';

const NOW = Date.parse('2026-11-24T12:00:00Z');

function board(close: string): BoardDefinition {
  const windows = `[all, { window: week${close} }, { season: s, from: 2026-01-01, to: 2026-06-01 }]`;
  const text = `boards: { arena: { columns: [{ name: points }], windows: ${windows} } }`;
  return parseBoardsFile(text, 'boards.yaml')[0]!;
}

const open = board('');
const closing = board(', close: { from: 2026-11-16 }');
const longer = board(', close: { from: 2026-11-16, grace: 1h }');
const VIEWS = ['all', 'week:2026-W45', 'week:2026-W47', 'week:2026-W47 a=b', 'week:2026-W48'];
const changes = (live: BoardDefinition, file: BoardDefinition, views = [...VIEWS, 'season:s']) =>
  closingChanges(live, file, { views, now: NOW });

describe('the closings that a new definition changes', () => {
  const at10m = '2026-11-23T00:10:00.000Z';

  it('are those of ended instances that have views', () => {
    expect(changes(open, closing)).toEqual([
      { window: 'week:2026-W47', before: null, after: at10m },
    ]);
    expect(changes(open, closing, ['week:2026-W48'])).toEqual([]);
  });

  it('are of a new, changed or removed close', () => {
    expect(changes(closing, longer)).toEqual([
      { window: 'week:2026-W47', before: at10m, after: '2026-11-23T01:00:00.000Z' },
    ]);
    expect(changes(closing, open)).toEqual([
      { window: 'week:2026-W47', before: at10m, after: null },
    ]);
    const earlier = board(', close: { from: 2026-11-09 }');
    expect(changes(closing, earlier)).toEqual([
      { window: 'week:2026-W45', before: null, after: '2026-11-09T00:10:00.000Z' },
    ]);
    const later = board(', close: { from: 2026-11-24 }');
    expect(changes(closing, later)).toEqual(changes(closing, open));
  });

  it('are none if only the announcement changes, or the board has no such window any more', () => {
    const reviewed = board(', close: { from: 2026-11-16, review: manual, results: 3 }');
    expect(changes(closing, reviewed)).toEqual([]);
    expect(changes(closing, { ...closing, windows: [{ kind: 'all' }] })).toEqual([]);
  });
});
