import { describe, expect, it, jest } from '@jest/globals';
import { parseBoardsFile, type BoardDefinition } from '#board';
import type { Boards, LiveBoard } from '#board-store';
import { encodePlayerRecord, encodeRetry } from '#contracts';
import { readRecord } from './read-record.js';

const [arena] = parseBoardsFile('boards: { arena: { columns: [{ name: points }] } }', 'arena.yaml');
if (arena === undefined) throw new Error('the file defines no board');
const plain: BoardDefinition = arena;

function boardsOf(names: readonly string[], definition = plain): Boards {
  const live = new Map(
    names.map((board): [string, LiveBoard] => [
      board,
      { board, generation: 'g', definition: { ...definition, board } },
    ]),
  );
  return { live, building: new Set(), removed: new Set(), versions: [] };
}

/** The detail of the dead letter for an event of a board. */
function detailOf(board: string, boards: Boards, fields: object = { delta: 1 }): string {
  const value = Buffer.from(JSON.stringify({ board, playerId: 'p', ...fields }));
  const record = { offset: 0, timestamp: 1e12, key: null, value, headers: {} };
  const { entry } = readRecord(record, 0, boards);
  if (entry.kind !== 'deadLetter') throw new Error('this event is not a dead letter');
  return entry.detail;
}

describe('an event whose windows have all closed', () => {
  const END = Date.parse('2026-11-20T00:00:00Z');
  const close = { from: 0, graceMs: 5, reviewMs: 0, results: 1 };
  const daily: BoardDefinition = { ...plain, windows: [{ kind: 'day', close }] };
  const occurredAt = new Date(END - 1).toISOString();
  const value = Buffer.from(
    JSON.stringify({ board: 'arena', playerId: 'p', delta: 1, occurredAt }),
  );
  const entryOf = (definition: BoardDefinition, timestamp: number) =>
    readRecord(
      { offset: 7, timestamp, key: null, value, headers: {} },
      0,
      boardsOf(['arena'], definition),
    ).entry;

  it('is a dead letter, or skipped and marked as late if the board only counts such events', () => {
    const detail = expect.stringContaining('day:2026-11-19');
    expect(entryOf(daily, END + 5)).toMatchObject({ kind: 'event' });
    expect(entryOf(daily, END + 6)).toMatchObject({
      kind: 'deadLetter',
      code: 'WINDOW_CLOSED',
      detail,
    });
    const counting = { ...daily, late: 'count' } as const;
    expect(entryOf(counting, END + 5)).toMatchObject({ kind: 'event' });
    expect(entryOf(counting, END + 6)).toEqual({ kind: 'none', offset: 7, late: detail });
  });
});

describe('the detail of a dead letter', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `arena-${index}`);

  it('names the five boards whose names are closest to an unknown one', () => {
    const near = 'arena2, arena3, arena4, arena5, arena6';
    const boards = boardsOf(['football', 'arena22', ...near.split(', '), 'arena7']);
    expect(detailOf('arena', boards)).toBe(`there is no board "arena"; did you mean ${near}?`);
    expect(detailOf('chess', boards)).toBe('there is no board "chess"');
  });

  it('is short with thousands of live boards; an unknown name is compared with them once', () => {
    const boards = boardsOf(many);
    const compared = jest.spyOn(boards.live, 'keys');
    const details = Array.from({ length: 500 }, () => detailOf('arena-x', boards));
    expect(new Set(details).size).toBe(1);
    expect(details[0]).toMatch(/^there is no board "arena-x"; did you mean (\S+, ){4}\S+\?$/);
    expect(compared).toHaveBeenCalledTimes(1);
  });

  it('suggests nothing after too many unknown names', () => {
    const boards = boardsOf(many);
    const compared = jest.spyOn(boards.live, 'keys');
    for (let index = 0; index < 500; index++) detailOf(`arena-x${index}`, boards);
    expect(compared.mock.calls.length).toBeLessThanOrEqual(100);
    expect(detailOf('arena-y', boards)).toBe('there is no board "arena-y"');
  });

  it('is cut to 1,024 bytes, never within a character', () => {
    const columns = Array.from({ length: 8 }, (_, index) => ({
      ...plain.columns[0]!,
      name: `${'é'.repeat(63)}${index}`,
    }));
    const boards = boardsOf(['wide'], { ...plain, columns });
    const detail = detailOf('wide', boards, { deltas: { ['x'.repeat(127)]: 1 } });
    expect(Buffer.byteLength(detail)).toBeGreaterThan(1_020);
    expect(Buffer.byteLength(detail)).toBeLessThanOrEqual(1_024);
    expect(detail).not.toContain('\uFFFD');
  });
});

describe('a ban', () => {
  const place = { partition: 3, offset: 17, timestamp: 5 };
  const voiding = boardsOf(['arena'], { ...plain, voids: [place] });
  const sent = encodePlayerRecord(
    'banned',
    { board: 'arena', playerId: 'p' },
    { id: 'b', source: '/x', time: 5 },
  );
  const value = Buffer.from(sent.value);
  const record = { offset: 17, timestamp: 5, key: null, value, headers: sent.headers };
  const retry = encodeRetry(record, { topic: 'ranklog.score-events', ...place });
  const retried = { ...record, offset: 20, timestamp: 9, headers: retry.headers };

  it('that is voided does not count, nor does a retry of it', () => {
    expect(readRecord(record, 3, boardsOf(['arena'])).entry.kind).toBe('player');
    expect(readRecord(retried, 3, boardsOf(['arena'])).entry.kind).toBe('player');
    expect(readRecord(record, 3, voiding).entry.kind).toBe('none');
    expect(readRecord(retried, 3, voiding).entry.kind).toBe('none');
  });

  it('counts although it is from before the board begins', () => {
    const { live, ...others } = boardsOf(['arena']);
    const arena = { ...live.get('arena')!, starts: new Map([[3, 100]]) };
    const boards = { ...others, live: new Map([['arena', arena]]) };
    expect(readRecord(record, 3, boards).entry.kind).toBe('player');
  });
});
