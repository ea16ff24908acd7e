import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile, resolveEvent, type BoardDefinition } from '#board';
import { decodeDeadLetter, encodeDeadLetter, encodeRetry } from './dead-letter.js';
import { decodeScoreEvent } from './decode-score-event.js';
import { decodePlayerRecord, encodePlayerRecord } from './player-record.js';
import { MAX_HEADERS, type RawRecord, type RecordHeaders } from './record.js';
import { decodeRetry, isRepeat } from './retry.js';

const TOPIC = 'ranklog.score-events';
const NOON = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;
const WHY = { code: 'TOO_FAR_AHEAD', detail: 'why' };

const value = (fields: object) =>
  Buffer.from(JSON.stringify({ board: 'arena', playerId: 'p', delta: 1, ...fields }));

/** The retry of a record that was at this offset of partition 3. */
function retryOf(record: RawRecord, offset: number, timestamp: number): RawRecord {
  const source = { topic: TOPIC, partition: 3, offset };
  const { headers, ...rest } = encodeDeadLetter(source, { ...record, timestamp }, WHY);
  const letter = { ...rest, headers: headers as RecordHeaders };
  return encodeRetry(letter, { ...decodeDeadLetter(letter)!, timestamp });
}

const original = (fields: object = {}): RawRecord => {
  return { key: Buffer.from('p'), value: value(fields), headers: { trace: ['a', 'b'] } };
};

function eventOf(record: RawRecord) {
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok) throw new Error(decoded.detail);
  return decoded.event;
}

describe('a retry', () => {
  it('is accepted with as many headers as its original may have, and so is the retry of a retry', () => {
    const headers = Object.fromEntries(
      Array.from({ length: MAX_HEADERS }, (_, index) => [`h${index}`, 'x']),
    );
    const full = { ...original(), headers };
    const twice = retryOf(retryOf(full, 17, NOON), 18, NOON);
    for (const record of [full, retryOf(full, 17, NOON), twice])
      expect(decodeScoreEvent(record)).toMatchObject({ ok: true });
    expect(decodeScoreEvent({ ...twice, headers: { ...twice.headers, more: 'x' } })).toMatchObject({
      code: 'TOO_MANY_HEADERS',
    });
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`ranklog_${index}`, 'x']),
    );
    expect(decodeScoreEvent({ ...full, headers: many })).toMatchObject({ ok: false });
  });

  it('of a ban has the time of its header, or else of the original record', () => {
    const fields = { board: 'arena', playerId: 'p' };
    const sent = { id: 'i', source: '/test', time: NOON - MINUTE };
    const { headers } = encodePlayerRecord('banned', fields, sent);
    const { ranklog_time: time, ...untimed } = headers;
    const ban = { key: Buffer.from('p'), value: value({}), headers };
    const timeOf = (record: RawRecord) =>
      decodePlayerRecord({ ...record, timestamp: NOON + 60 * MINUTE });
    const twice = retryOf(retryOf(ban, 17, NOON), 18, NOON + MINUTE);
    expect(twice.headers).toMatchObject({ ...untimed, ranklog_time: time });
    expect(timeOf(twice)).toMatchObject({ playerRecord: { occurredAt: NOON - MINUTE } });
    const without = { ...ban, headers: untimed };
    const again = retryOf(retryOf(without, 17, NOON), 18, NOON + MINUTE);
    expect(timeOf(again)).toMatchObject({ playerRecord: { occurredAt: NOON } });
    expect(retryOf(original(), 17, NOON).headers).not.toHaveProperty('ranklog_time');
  });

  it('has the original key, value and headers, and names the records before it', () => {
    const once = retryOf(original(), 17, NOON);
    expect(once).toEqual({
      ...original(),
      headers: {
        trace: ['a', 'b'],
        ranklog_retry_of: [`${TOPIC}/3/17`],
        ranklog_retry_timestamp: [String(NOON)],
      },
    });
    const twice = retryOf(once, 25, NOON + MINUTE);
    expect(twice.headers).toMatchObject({
      ranklog_retry_of: [`${TOPIC}/3/17`, `${TOPIC}/3/25`],
      ranklog_retry_timestamp: [String(NOON), String(NOON + MINUTE)],
    });
    expect(decodeRetry(twice)).toEqual({
      retryOf: [
        { partition: 3, offset: 17, timestamp: NOON },
        { partition: 3, offset: 25, timestamp: NOON + MINUTE },
      ],
      occurredAt: '2026-11-20T12:00:00.000Z',
    });
  });

  it('keeps the time of the original, also if the event has none', () => {
    const twice = (fields: object) => retryOf(retryOf(original(fields), 17, NOON), 25, NOON + 9);
    expect(eventOf(twice({})).occurredAt).toBe(NOON);
    expect(eventOf(twice({ occurredAt: '2026-11-20T11:00:00Z' })).occurredAt).toBe(
      NOON - 60 * MINUTE,
    );
  });

  it.each([1e15 - 1, NOON * 1_000, -(2 ** 63)])(
    'is refused like its original if that has no valid time, but the timestamp %p',
    (timestamp) => {
      const retry = retryOf(original(), 17, timestamp);
      expect(decodeScoreEvent(retry)).toMatchObject({ ok: false, code: 'INVALID_TIME' });
    },
  );

  it.each([
    ['no number', { ranklog_retry_of: 'x/0/a', ranklog_retry_timestamp: '1' }],
    ['no timestamp', { ranklog_retry_of: 'x/0/1' }],
    ['a bad timestamp', { ranklog_retry_of: 'x/0/1', ranklog_retry_timestamp: '1e3' }],
    [
      'fewer records than timestamps',
      { ranklog_retry_of: 'x/0/1', ranklog_retry_timestamp: ['1', '2'] },
    ],
    [
      'fewer timestamps than records',
      { ranklog_retry_of: ['x/0/1', 'x/0/2'], ranklog_retry_timestamp: '1' },
    ],
    [
      'a bad record first',
      { ranklog_retry_of: ['x', 'x/0/2'], ranklog_retry_timestamp: ['1', '2'] },
    ],
    [
      'a number too large',
      { ranklog_retry_of: `x/0/${'9'.repeat(16)}`, ranklog_retry_timestamp: '1' },
    ],
  ])('is an ordinary event if its headers have %s', (_, headers) => {
    expect(decodeRetry({ headers })).toBeUndefined();
    expect(eventOf({ ...original(), headers })).not.toHaveProperty('retryOf');
  });
});

describe('a generation', () => {
  const definitionOf = (maxAhead: string) =>
    parseBoardsFile(
      `boards: { arena: { columns: [{ name: points }], maxAhead: ${maxAhead} } }`,
      'boards.yaml',
    )[0]!;
  const [narrow, wide] = [definitionOf('1m'), definitionOf('1h')];
  const widest = definitionOf('99999999d');
  const dated = original({ occurredAt: '2026-11-20T12:30:00Z' });
  const once = eventOf(retryOf(dated, 17, NOON));

  it('takes a retry if it refuses the original', () => {
    expect(isRepeat(once, { definition: narrow })).toBe(false);
    expect(isRepeat(eventOf(dated), { definition: wide })).toBe(false);
  });

  it('skips a retry if it takes the original', () => {
    expect(isRepeat(once, { definition: wide })).toBe(true);
  });

  it('takes a retry of a record from before it begins', () => {
    expect(isRepeat(once, { definition: wide, starts: new Map([[3, 18]]) })).toBe(false);
    expect(isRepeat(once, { definition: wide, starts: new Map([[3, 17]]) })).toBe(true);
    expect(isRepeat(once, { definition: wide, starts: new Map([[2, 18]]) })).toBe(true);
  });

  const timestamps = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.maxSafeInteger().map(BigInt),
    fc.integer().map((ms) => BigInt(NOON + ms)),
  );
  it('skips a retry if and only if it takes the original, whatever its timestamp is', () => {
    const property = (int64: bigint, record: RawRecord, definition: BoardDefinition) => {
      const timestamp = Number(int64);
      const { ok } = resolveEvent(definition, eventOf(record), timestamp);
      const decoded = decodeScoreEvent(retryOf(record, 17, timestamp));
      expect(decoded.ok && isRepeat(decoded.event, { definition })).toBe(ok);
    };
    const records = fc.constantFrom(dated, original());
    const definitions = fc.constantFrom(narrow, wide, widest);
    fc.assert(fc.property(timestamps, records, definitions, property), { numRuns: 2_000 });
  });

  it('takes of a chain of retries the first record that it accepts, and no other', () => {
    /** The event is of 12:30; the hour ends at 13:00. Minutes after noon. */
    const minutes = fc.oneof(fc.integer({ min: 0, max: 90 }), fc.constantFrom(30, 60, 65, 66));
    const chains = fc.record({
      times: fc.array(minutes, { minLength: 1, maxLength: 5 }),
      maxAhead: fc.constantFrom(0, 5, 60),
      grace: fc.constantFrom(undefined, 0, 5),
      start: fc.constantFrom(undefined, 0, 2),
    });
    let repeated = 0;
    fc.assert(
      fc.property(chains, ({ times, maxAhead, grace, start }) => {
        const hour = { kind: 'season', name: 'h', from: NOON, to: NOON + 60 * MINUTE } as const;
        const close = { from: 0, graceMs: (grace ?? 0) * MINUTE, reviewMs: 0, results: 1 };
        const definition: BoardDefinition = {
          ...narrow,
          maxAheadMs: maxAhead * MINUTE,
          windows: [grace === undefined ? hour : { ...hour, close }],
        };
        const accepted = times.findIndex((time, offset) => {
          const isInTime = grace === undefined || time <= 60 + grace;
          return offset >= (start ?? 0) && 30 - time <= maxAhead && isInTime;
        });
        const starts = start === undefined ? undefined : new Map([[3, start]]);
        const records = [dated];
        for (const [index, time] of times.slice(0, -1).entries())
          records.push(retryOf(records[index]!, index, NOON + time * MINUTE));
        const taken = records.flatMap((record, offset) => {
          const event = eventOf(record);
          if (offset < (start ?? 0)) return [];
          if (isRepeat(event, { definition, starts })) {
            repeated += 1;
            return [];
          }
          const { ok } = resolveEvent(definition, event, NOON + times[offset]! * MINUTE);
          // An event that counts has no dead letter later.
          if (!ok) expect(accepted < 0 || accepted > offset).toBe(true);
          return ok ? [offset] : [];
        });
        expect(taken).toEqual(accepted < 0 ? [] : [accepted]);
      }),
      { numRuns: 2_000 },
    );
    expect(repeated).toBeGreaterThan(500);
  });
});
