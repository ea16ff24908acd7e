import { describe, expect, it } from '@jest/globals';
import { PLAYER_RECORD_TYPES } from './cloud-events.js';
import { decodePlayerRecord, encodePlayerRecord, type PlayerRecordKind } from './player-record.js';
import { MAX_HEADERS, type RecordHeaders } from './record.js';

const HOUR_MS = 3_600_000;
const TIMESTAMP = Date.parse('2026-11-20T09:00:00Z');
const NAMES = { board: 'arena', playerId: 'p-17' };
const TEXTS = { reason: 'speed hack', by: 'ana' };
const BAN = { ce_type: PLAYER_RECORD_TYPES.banned };

type Value = Buffer | string | object | null;

function decode(value: Value, headers: RecordHeaders = {}, timestamp = TIMESTAMP) {
  const bytes = Buffer.isBuffer(value) || value === null ? value : Buffer.from(textOf(value));
  return decodePlayerRecord({
    key: null,
    value: bytes,
    headers: { ...BAN, ...headers },
    timestamp,
  });
}

const textOf = (value: string | object) =>
  typeof value === 'string' ? value : JSON.stringify(value);

function decoded(...record: Parameters<typeof decode>) {
  const decoding = decode(...record);
  if (decoding?.ok !== true) throw new Error(`refused: ${JSON.stringify(decoding)}`);
  return decoding.playerRecord;
}

describe('a player record', () => {
  it.each<PlayerRecordKind>(['banned', 'unbanned', 'erased'])(
    'that a player is %s is decoded to what was encoded, and keyed by player',
    (kind) => {
      const sent = { id: 'b-1', source: '/ranklog/cli', time: TIMESTAMP + 5 };
      const { key, value, headers } = encodePlayerRecord(kind, { ...NAMES, ...TEXTS }, sent);
      expect(key).toBe('p-17');
      expect(decoded(value, headers)).toEqual({
        kind,
        occurredAt: TIMESTAMP + 5,
        ...NAMES,
        ...TEXTS,
      });
    },
  );

  it('needs neither a reason nor who decided it; null counts as absent, others are ignored', () => {
    const expected = { kind: 'banned', occurredAt: TIMESTAMP, ...NAMES };
    expect(decoded(NAMES)).toEqual(expected);
    expect(decoded({ ...NAMES, reason: null, by: null, more: [null] })).toEqual(expected);
  });

  it('needs no header but its type; without a time, the timestamp of the record counts', () => {
    expect(decoded(NAMES).occurredAt).toBe(TIMESTAMP);
    expect(decoded(NAMES, {}, -5).occurredAt).toBe(-5);
  });

  it.each([
    ['long ago', -62_135_596_800_000],
    ['negative', -1],
    ['an hour ahead of the record', TIMESTAMP + HOUR_MS],
  ])('has the time of its header: %s', (_, time) => {
    expect(decoded(NAMES, { ranklog_time: String(time) }).occurredAt).toBe(time);
  });

  it('has the last one of repeated times', () => {
    expect(decoded(NAMES, { ranklog_time: ['x', '7'] }).occurredAt).toBe(7);
  });

  it.each([undefined, 'ranklog.score-event.v1', 'ranklog.player-banned.v2', 'constructor', ''])(
    'is not what has the type %j',
    (type) => {
      expect(decode(NAMES, { ce_type: type })).toBeUndefined();
    },
  );
});

describe('a player record is refused', () => {
  it.each<[string, string, Value]>([
    ['no value', 'EMPTY_VALUE', null],
    ['an empty value', 'EMPTY_VALUE', ''],
    ['bytes that are not UTF-8', 'NOT_UTF8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['a text', 'NOT_JSON', 'hello'],
    ['a list', 'NOT_AN_OBJECT', []],
    ['null', 'NOT_AN_OBJECT', 'null'],
    ['too many levels', 'NESTED_TOO_DEEPLY', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['no board', 'INVALID_ID', { playerId: 'p-17' }],
    ['null for the board', 'INVALID_ID', { ...NAMES, board: null }],
    ['a number for the player', 'INVALID_ID', { ...NAMES, playerId: 17 }],
    ['a player id that is too long', 'INVALID_ID', { ...NAMES, playerId: 'x'.repeat(129) }],
    ['a reason that is too long', 'INVALID_PLAYER_RECORD', { ...NAMES, reason: 'é'.repeat(129) }],
    ['an empty reason', 'INVALID_PLAYER_RECORD', { ...NAMES, reason: '' }],
    ['a line break in a reason', 'INVALID_PLAYER_RECORD', { ...NAMES, reason: 'a\nb' }],
    ['a list of who decided it', 'INVALID_PLAYER_RECORD', { ...NAMES, by: ['ana'] }],
  ])('with %s (%s)', (_, code, value) => {
    expect(decode(value)).toMatchObject({ ok: false, code });
  });

  it('with the name and the value of the wrong field, and what it must be', () => {
    expect(decode({ ...NAMES, reason: '' })).toMatchObject({
      detail:
        'reason is ""; reason must be a string of 1 to 256 bytes of UTF-8 without ' +
        'control characters or lone surrogates',
    });
  });

  it('with a reason of 257 bytes, but not with one of 256', () => {
    expect(decode({ ...NAMES, reason: 'x'.repeat(257) })?.ok).toBe(false);
    expect(decode({ ...NAMES, reason: 'x'.repeat(256) })?.ok).toBe(true);
  });

  it.each(['', 'soon', '1.5', '1e3', ' 1', '+1', '0x1', '1234567890123456'])(
    'with the time %j, which is not a number of ms',
    (time) => {
      expect(decode(NAMES, { ranklog_time: time })).toMatchObject({
        code: 'INVALID_TIME',
        detail: `ranklog_time ${JSON.stringify(time)} is not a time in ms in the years 0001 to 9999`,
      });
    },
  );

  it('with a time before the year 1, also if it is the timestamp of the record', () => {
    const early = -62_135_596_800_001;
    expect(decode(NAMES, { ranklog_time: String(early) })).toMatchObject({ code: 'INVALID_TIME' });
    expect(decode(NAMES, {}, early)).toMatchObject({
      code: 'INVALID_TIME',
      detail: expect.stringContaining(`the timestamp ${early} is not`),
    });
  });

  it('with a time more than an hour after that of the record', () => {
    const time = TIMESTAMP + HOUR_MS + 1;
    expect(decode(NAMES, { ranklog_time: String(time) })).toMatchObject({
      code: 'TOO_FAR_AHEAD',
      detail: expect.stringContaining('2026-11-20T10:00:00.001Z, 3600001 ms after'),
    });
  });

  it('with more than 256 headers', () => {
    const others = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, 'x']));
    expect(decode(NAMES, others(MAX_HEADERS - 1))?.ok).toBe(true);
    expect(decode(NAMES, others(MAX_HEADERS))).toMatchObject({ code: 'TOO_MANY_HEADERS' });
  });

  it.each([
    ['another version of CloudEvents', { ce_specversion: '0.3' }],
    ['structured mode', { 'content-type': 'application/cloudevents+json' }],
    ['another content type', { ce_specversion: '1.0', 'content-type': 'text/plain' }],
  ])('with headers of %s', (_, headers) => {
    expect(decode(NAMES, headers)).toMatchObject({ code: 'UNSUPPORTED_CLOUDEVENT' });
  });
});
