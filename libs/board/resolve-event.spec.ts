import { describe, expect, it } from '@jest/globals';
import { arena } from '../../test/support/arena.js';
import type { EventRejectionCode } from './board-errors.js';
import type { BoardDefinition } from './definition.js';
import { resolveEvent, type ScoreInput } from './resolve-event.js';
import { EARLIEST_TIME, formatTime } from './time.js';

const NOW = Date.parse('2026-11-20T09:00:00.000Z');

const single: BoardDefinition = {
  ...arena,
  columns: [{ name: 'points', update: 'sum', order: 'desc', decimals: 2 }],
  dimensions: [[], ['region']],
  maxAheadMs: 1_000,
};
const race: BoardDefinition = {
  ...single,
  board: 'race',
  columns: [
    { name: 'wins', update: 'sum', order: 'desc', decimals: 0 },
    { name: 'seconds', update: 'best', order: 'asc', decimals: 3 },
    { name: 'level', update: 'latest', order: 'desc', decimals: 0 },
  ],
  dimensions: [[]],
};

const input = (fields: Partial<ScoreInput>): ScoreInput => ({
  playerId: 'p-17',
  attributes: { region: 'eu' },
  ...fields,
});

function resolved(definition: BoardDefinition, fields: Partial<ScoreInput>) {
  const resolution = resolveEvent(definition, input(fields), NOW);
  if (!resolution.ok) throw new Error(resolution.detail);
  return resolution.event;
}

describe('an event that a board accepts', () => {
  it('has its values in sort direction and the views that it moves', () => {
    expect(resolved(single, { delta: '12.5', occurredAt: NOW - 5 })).toEqual({
      playerId: 'p-17',
      occurredAt: NOW - 5,
      values: [-1250],
      views: [
        { view: 'all', expiresAt: null, published: true },
        { view: 'all region=eu', expiresAt: null, published: true },
      ],
    });
  });

  it('has its values in the order of the columns, null for a missing sum', () => {
    const deltas = { level: '-7', seconds: '60.25' };
    expect(resolved(race, { deltas }).values).toEqual([null, 60_250, 7]);
    expect(resolved(race, { deltas: { ...deltas, wins: '1' } }).values).toEqual([-1, 60_250, 7]);
  });

  it('can send the value of the only column by its name, in `deltas`', () => {
    expect(resolved(single, { deltas: { points: '3' } }).values).toEqual([-300]);
  });

  it('does not read inherited properties as values', () => {
    const columns = [{ name: 'constructor', update: 'sum', order: 'desc', decimals: 0 }] as const;
    expect(resolved({ ...single, columns }, { deltas: {} }).values).toEqual([null]);
  });

  it('can omit the value of a sum column', () => {
    expect(resolved(single, { deltas: {} }).values).toEqual([null]);
  });

  it.each(['0', '-0', '0.00', '-0.0'])('has the value 0, not -0, for %s', (delta) => {
    expect(resolved(single, { delta }).values).toEqual([0]);
  });

  it('keeps its event id only where the board drops duplicates', () => {
    const event = { delta: '1', eventId: 'e-1' };
    expect(resolved(single, event)).not.toHaveProperty('eventId');
    const deduplicating = { ...single, deduplicateMs: 1 };
    expect(resolved(deduplicating, event).eventId).toBe('e-1');
    expect(resolved(deduplicating, { delta: '1' })).not.toHaveProperty('eventId');
  });

  it('can move no view', () => {
    expect(
      resolved({ ...single, dimensions: [['region']] }, { delta: '1', attributes: { region: [] } })
        .views,
    ).toEqual([]);
  });

  it('has the timestamp of its record if it has no time', () => {
    expect(resolved(single, { delta: '1' }).occurredAt).toBe(NOW);
  });

  it('can be ahead of its record by maxAhead, and behind it by any time', () => {
    expect(resolved(single, { delta: '1', occurredAt: NOW + 1_000 }).occurredAt).toBe(NOW + 1_000);
    expect(resolved(single, { delta: '1', occurredAt: 0 }).occurredAt).toBe(0);
  });

  it('can have the time notAfter or any earlier one', () => {
    const definition = { ...single, notAfter: NOW };
    expect(resolved(definition, { delta: '1' }).occurredAt).toBe(NOW);
    expect(resolved(definition, { delta: '1', occurredAt: 0 }).occurredAt).toBe(0);
  });

  it.each([
    ['90071992547409.91', -9007199254740991],
    ['-90071992547409.91', 9007199254740991],
  ])('keeps %s exact', (delta, value) => {
    expect(resolved(single, { delta }).values).toEqual([value]);
  });
});

describe('an event that a board rejects', () => {
  const good = { level: '1', seconds: '1' };

  // prettier-ignore
  it.each<[EventRejectionCode, BoardDefinition, Partial<ScoreInput>, detail: string]>([
    ['UNKNOWN_COLUMN', race, { deltas: { ...good, laps: '1' } }, 'board "race" has no input "laps"; its inputs: wins, seconds, level'],
    ['UNKNOWN_COLUMN', race, { deltas: JSON.parse('{"level":"1","seconds":"1","__proto__":"1"}') as Record<string, string> }, 'board "race" has no input "__proto__"; its inputs: wins, seconds, level'],
    ['MISSING_COLUMN', race, { deltas: { level: '1' } }, 'column "seconds" of board "race": the value is missing; the column keeps the best value, so every event needs one'],
    ['MISSING_COLUMN', race, { deltas: { seconds: '1' } }, 'column "level" of board "race": the value is missing; the column keeps the latest value, so every event needs one'],
    ['DELTA_NEEDS_ONE_COLUMN', race, { delta: '1' }, 'board "race" has several inputs: wins, seconds, level; send "deltas" with a value for each instead of "delta"'],
    ['MISSING_DIMENSION', single, { delta: '1', attributes: {} }, 'the attribute "region" is missing; board "arena" is ranked by it'],
    ['INVALID_NUMBER', single, { delta: '1e3' }, 'column "points" of board "arena": "1e3" is not a decimal number such as 12 or -0.5'],
    ['INVALID_NUMBER', single, { delta: ' 1' }, 'column "points" of board "arena": " 1" is not a decimal number such as 12 or -0.5'],
    ['INVALID_NUMBER', single, { delta: '' }, 'column "points" of board "arena": "" is not a decimal number such as 12 or -0.5'],
    ['TOO_MANY_DECIMALS', single, { delta: '0.123' }, 'column "points" of board "arena": "0.123" has more decimals than the column\'s 2'],
    ['OUT_OF_RANGE', single, { delta: '90071992547409.92' }, 'column "points" of board "arena": "90071992547409.92" is outside +-(2^53-1) minor units'],
    ['TOO_MANY_VIEWS_OF_AN_EVENT', single, { delta: '1', attributes: { region: Array.from({ length: 256 }, (_, index) => `${index}`) } }, 'the event would move more than 256 views of board "arena"; send fewer values in its attributes'],
    ['TOO_FAR_AHEAD', single, { delta: '1', occurredAt: NOW + 1_001 }, 'occurredAt is 1001 ms after the record\'s timestamp; board "arena" allows 1000 ms (maxAhead)'],
    ['TOO_FAR_AHEAD', { ...single, notAfter: NOW - 1 }, { delta: '1' }, `the event is dated ${formatTime(NOW)}; board "arena" allows times up to ${formatTime(NOW - 1)} (notAfter)`],
    ['TOO_FAR_AHEAD', { ...single, notAfter: NOW }, { delta: '1', occurredAt: NOW + 1 }, `the event is dated ${formatTime(NOW + 1)}; board "arena" allows times up to ${formatTime(NOW)} (notAfter)`],
  ])('gets the code %s', (code, definition, fields, detail) => {
    expect(resolveEvent(definition, input(fields), NOW)).toEqual({
      ok: false,
      code,
      detail,
    });
  });

  it('has a short detail for a long value', () => {
    const resolution = resolveEvent(single, input({ delta: 'x'.repeat(100_000) }), NOW);
    expect(resolution.ok ? '' : resolution.detail.length).toBeLessThan(200);
  });
});

describe('an event whose windows have all closed', () => {
  const END = Date.parse('2026-11-20T00:00:00.000Z');
  const close = { from: END, graceMs: 600_000, reviewMs: 'manual', results: 100 } as const;
  const daily: BoardDefinition = { ...single, windows: [{ kind: 'day', close }] };
  const late = { delta: '1', occurredAt: END - 1 };
  const closedAt = END + 600_000;

  it('gets the code WINDOW_CLOSED, with the windows, their ends and the timestamp of the record', () => {
    expect(resolveEvent(daily, input(late), closedAt)).toMatchObject({ ok: true });
    expect(resolveEvent(daily, input(late), closedAt + 1)).toEqual({
      ok: false,
      code: 'WINDOW_CLOSED',
      detail:
        'the record\'s timestamp 2026-11-20T00:10:00.001Z is after the grace of all windows of board "arena" that the event is in: day:2026-11-19 (end 2026-11-20T00:00:00.000Z, grace 600000 ms)',
    });
  });

  it('gets it for any timestamp that Kafka accepts', () => {
    const found = resolveEvent(daily, input(late), 2 ** 63);
    expect(found).toMatchObject({ code: 'WINDOW_CLOSED' });
    expect(found).toMatchObject({ detail: expect.stringContaining(String(2 ** 63)) });
  });

  it('counts in the windows that are open', () => {
    const windows = [{ kind: 'all' }, { kind: 'day', close }] as const;
    const found = resolveEvent({ ...daily, windows }, input(late), closedAt + 1);
    expect(found.ok && found.event.views.map(({ view }) => view)).toEqual(['all', 'all region=eu']);
  });

  it('counts if its record has no timestamp, which Kafka shows as -1', () => {
    expect(resolveEvent({ ...daily, maxAheadMs: Infinity }, input(late), -1)).toMatchObject({
      ok: true,
    });
  });

  it.each<[EventRejectionCode, Partial<BoardDefinition>, Partial<ScoreInput>]>([
    ['MISSING_DIMENSION', {}, { attributes: {} }],
    ['TOO_MANY_DECIMALS', {}, { delta: '0.123' }],
    ['TOO_FAR_AHEAD', { notAfter: END - 2 }, {}],
    [
      'TOO_MANY_VIEWS_OF_AN_EVENT',
      {},
      { attributes: { region: Array.from({ length: 256 }, (_, index) => `${index}`) } },
    ],
  ])('is refused for another fault first: %s', (code, definition, fields) => {
    const event = input({ ...late, ...fields });
    for (const timestamp of [closedAt, closedAt + 1])
      expect(resolveEvent({ ...daily, ...definition }, event, timestamp)).toMatchObject({ code });
  });

  it('can move no view, whatever the time', () => {
    const definition = { ...daily, dimensions: [['region']] };
    const nowhere = input({ ...late, attributes: { region: [] } });
    expect(resolveEvent(definition, nowhere, closedAt + 1)).toMatchObject({ event: { views: [] } });
  });

  it('counts in all of them if none had closed by the time that is asked for', () => {
    const found = resolveEvent(daily, input(late), closedAt + 1, EARLIEST_TIME);
    expect(found).toEqual(resolveEvent(daily, input(late), closedAt));
  });
});

describe('an event without a time', () => {
  it.each([1e15, -1e15])('is rejected if its record has the timestamp %p', (timestamp) => {
    const resolution = resolveEvent(single, input({ delta: '1' }), timestamp);
    expect(resolution).toMatchObject({ ok: false, code: 'INVALID_TIME' });
  });
});
