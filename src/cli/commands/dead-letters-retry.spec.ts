import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import { encodeDeadLetter, decodeDeadLetter, decodeScoreEvent } from '#contracts';
import { isSelected, type FoundLetter } from '../sessions/dead-letter-selection.js';
import { retryOf } from './dead-letters-retry.js';

const TOPIC = 'ranklog.score-events';
const EARLY = Date.parse('2026-11-20T12:00:00Z');
const PUBLISHED = EARLY + 300;
const [definition] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }], maxAhead: 1m } }',
  'boards.yaml',
);

/** A dead letter of the record at offset 17 of partition 3. */
function letter(fields: object = {}, { offset = 17, topic = TOPIC, maxBytes = Infinity } = {}) {
  const event = { board: 'arena', playerId: 'p', delta: 1, occurredAt: '2026-11-20T13:00:00Z' };
  const value = Buffer.from(JSON.stringify({ ...event, ...fields }));
  const source = { topic, partition: 3, offset };
  const made = { key: null, value, headers: {}, timestamp: EARLY };
  const why = { code: 'TOO_FAR_AHEAD', detail: 'why' };
  const encoded = encodeDeadLetter(source, made, why, maxBytes);
  const record = { ...encoded, headers: { ...encoded.headers }, offset: 5, timestamp: PUBLISHED };
  const decoded = decodeScoreEvent(record);
  const found = decoded.ok ? decoded.event : undefined;
  return { ...decodeDeadLetter(record)!, id: `${topic}/3/${offset}`, record, event: found };
}

const live = { board: 'arena', generation: 'g1', definition: definition! };
const to = (more: object = {}) => ({
  topic: TOPIC,
  maxBytes: 1_000_000,
  log: new Map([[3, { start: 10, end: 100 }]]),
  boards: {
    live: new Map([['arena', live]]),
    building: new Set(['new']),
    removed: new Set<string>(),
    versions: [],
    ...more,
  },
});
const wide = { ...live, definition: { ...definition!, maxAheadMs: 7_200_000 } };

describe('the retry of a dead letter', () => {
  it('is sent if its board takes it now', () => {
    expect(retryOf(letter(), to())).toMatchObject({
      message: { headers: { ranklog_retry_of: [`${TOPIC}/3/17`] } },
      isPartlyLate: false,
    });
  });

  it.each<[string, FoundLetter, object, string]>([
    ['its board takes the record', letter(), { live: new Map([['arena', wide]]) }, 'accepted'],
    ['its board is being built', letter({ board: 'new' }), {}, 'board "new" is being built'],
    ['it would fail again', letter({ delta: '0.5' }), {}, 'refused again: TOO_MANY_DECIMALS'],
    ['its board is unknown', letter({ board: 'ghost' }), {}, 'refused again: UNKNOWN_BOARD'],
    ['the log is cut behind its record', letter({}, { offset: 9 }), {}, 'no longer has'],
    ['the log has no such record', letter({}, { offset: 100 }), {}, 'no longer has'],
    ['it is of another topic', letter({}, { topic: 'other' }), {}, 'no longer has'],
    ['its value is left out', letter({ x: 'x'.repeat(999) }, { maxBytes: 600 }), {}, 'lacks value'],
  ])('is left out if %s', (_, found, boards, why) => {
    expect(retryOf(found, to(boards))).toContain(why);
  });

  it.each(['deadLetter', 'count'] as const)(
    'is left out if all windows have closed, with late: %s',
    (late) => {
      const close = { from: 0, graceMs: 0, reviewMs: 0, results: 1 };
      const windows = [{ kind: 'day', close }] as const;
      const closing = { ...live, definition: { ...definition!, windows, late } };
      const boards = { live: new Map([['arena', closing]]) };
      const found = letter({ occurredAt: '2026-11-20T12:30:00Z' });
      const now = Date.parse('2026-11-20T23:59:59Z');
      expect(retryOf(found, to(boards), now)).toMatchObject({ isPartlyLate: false });
      expect(retryOf(found, to(boards), now + 2_000)).toContain('refused again: WINDOW_CLOSED: ');
    },
  );

  it('says if it comes too late for some windows', () => {
    const close = { from: 0, graceMs: 0, reviewMs: 0, results: 1 };
    const windows = [{ kind: 'all' }, { kind: 'day', close }] as const;
    const closing = { ...live, definition: { ...definition!, windows } };
    const boards = { live: new Map([['arena', closing]]) };
    const found = letter({ occurredAt: '2026-11-20T12:30:00Z' });
    const late = Date.parse('2026-11-21T00:00:01Z');
    expect(retryOf(found, to(boards), late)).toMatchObject({ isPartlyLate: true });
  });

  it('is left out if it is too large, or if its time is unknown', () => {
    expect(retryOf(letter(), { ...to(), maxBytes: 200 })).toContain('too large');
    const old = letter();
    delete (old as { timestamp?: number }).timestamp;
    expect(retryOf(old, to())).toContain('lacks the timestamp');
  });
});

describe('a filter', () => {
  it.each([
    [{}, true],
    [{ ids: [] }, true],
    [{ ids: [`${TOPIC}/3/17`] }, true],
    [{ ids: [`${TOPIC}/3/18`] }, false],
    [{ reason: 'TOO_FAR_AHEAD', board: 'arena', partition: 3 }, true],
    [{ reason: 'NOT_JSON' }, false],
    [{ board: 'cup' }, false],
    [{ partition: 0 }, false],
    [{ from: PUBLISHED, until: PUBLISHED + 1 }, true],
    [{ from: PUBLISHED + 1 }, false],
    [{ until: PUBLISHED }, false],
  ])('%j selects a dead letter: %s', (filter, isIt) => {
    expect(isSelected(letter(), filter)).toBe(isIt);
  });
});
