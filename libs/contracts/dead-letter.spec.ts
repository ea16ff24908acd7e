import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeHeaders } from '../../test/support/record-headers.js';
import { batchBytes, cutDetail, decodeDeadLetter, encodeDeadLetter } from './dead-letter.js';
import { causeId, MAX_HEADERS, type RawRecord, type RecordHeaders } from './record.js';

const SOURCE = { topic: 'ranklog.score-events', partition: 3, offset: 41_205 };
const TIME = 1_795_312_800_123;
const WHY = { code: 'NOT_UTF8', detail: 'why' };
const encode = (headers: RecordHeaders) =>
  encodeDeadLetter(
    SOURCE,
    { key: null, value: null, headers, timestamp: TIME },
    { code: 'NOT_JSON', detail: 'why' },
  );

describe('a dead letter', () => {
  it('has the key and value of its record, byte for byte', () => {
    const key = Buffer.from([0, 0xff]);
    const value = Buffer.from([0xed, 0xa0, 0xbd]);
    const letter = encodeDeadLetter(SOURCE, { key, value, headers: {}, timestamp: TIME }, WHY);
    expect(letter.key).toBe(key);
    expect(letter.value).toBe(value);
  });

  it('keeps a null key and a null value', () => {
    expect(encode({})).toMatchObject({ key: null, value: null });
  });

  it('keeps the headers of its record, including CloudEvents and repeated headers', () => {
    const headers = {
      ce_id: Buffer.from([0xff]),
      trace: [Buffer.from('a'), Buffer.from('b')],
      own: 'x',
    };
    const { ce_id, trace, own } = encode(headers).headers as Record<string, unknown>;
    expect({ ce_id, trace, own }).toStrictEqual(headers);
  });

  it('names headers in its detail that it can not have, because their names are not UTF-8', () => {
    const { headers } = encode({ trace: 'a', '\uFFFD': 'b', 'x\uFFFD\n': 'c' });
    expect(headers).toMatchObject({ trace: 'a' });
    expect(Object.keys(headers).filter((name) => name.includes('\uFFFD'))).toEqual([]);
    expect(headers.ranklog_detail).toBe(
      'why; without these headers, whose names are not UTF-8: "\uFFFD", "x\uFFFD\\n"',
    );
  });

  it.each([
    ['different', Array.from({ length: MAX_HEADERS + 1 }, (_, index) => [`h${index}`, 'x'])],
    ['repeated', Array.from({ length: MAX_HEADERS + 1 }, () => ['h', 'x'])],
  ] as [string, [string, string][]][])('has the size of too many %s headers instead', (_, sent) => {
    const encodedHeaders = encodeHeaders(sent);
    const record = { key: null, value: null, timestamp: TIME };
    const fetched = { ...record, headers: encodedHeaders.decode(), encodedHeaders };
    for (const given of [fetched, { ...record, headers: encodedHeaders.decode() }]) {
      const letter = encodeDeadLetter(SOURCE, given, WHY);
      expect(letter.headers).not.toHaveProperty('h');
      expect(letter.headers).not.toHaveProperty('h0');
      const [part] = decodeDeadLetter(letter)?.leftOut ?? [];
      expect(part).toMatchObject({ part: 'headers', sha256: undefined });
      expect(part?.bytes).toBeGreaterThanOrEqual(encodedHeaders.byteLength);
    }
  });

  it('replaces null headers by empty ones, because kafkajs can not write null', () => {
    const headers = { none: null, absent: undefined, some: [null, Buffer.from('b')] };
    const letter: Record<string, unknown> = encode(headers as unknown as RecordHeaders).headers;
    // toMatchObject would not tell null from an empty Buffer.
    expect(letter['none']).toStrictEqual(Buffer.alloc(0));
    expect(letter['absent']).toStrictEqual(Buffer.alloc(0));
    expect(letter['some']).toStrictEqual([Buffer.alloc(0), Buffer.from('b')]);
  });

  it('has the reason, the position and the time of its record, which can be decoded', () => {
    const { headers } = encode({});
    expect(headers).toMatchObject({ ranklog_id: 'ranklog.score-events/3/41205' });
    expect(decodeDeadLetter({ key: null, value: null, headers })).toEqual({
      ...SOURCE,
      timestamp: TIME,
      code: 'NOT_JSON',
      detail: 'why',
      leftOut: [],
    });
  });

  it('has the new reason if its record was a dead letter before', () => {
    const { headers } = encode({ ranklog_reason: 'UNKNOWN_BOARD', ranklog_detail: 'earlier' });
    expect(headers).toMatchObject({ ranklog_reason: 'NOT_JSON', ranklog_detail: 'why' });
  });

  it.each([
    ['a'.repeat(1_024), 1_024],
    ['a'.repeat(1_025), 1_024],
    [`a${'é'.repeat(1_000)}`, 1_023],
    ['😀'.repeat(300), 1_024],
    [`a${'😀'.repeat(300)}`, 1_021],
  ])('has a detail of at most 1,024 bytes, in whole characters', (detail, length) => {
    const cut = cutDetail(detail);
    expect(Buffer.byteLength(cut)).toBe(length);
    expect(detail.startsWith(cut)).toBe(true);
  });

  it('is not decoded from other records', () => {
    expect(decodeDeadLetter({ key: null, value: null, headers: {} })).toBeUndefined();
  });
});

const MOST = 2_000;
const bounded = (record: RawRecord) =>
  encodeDeadLetter(SOURCE, { ...record, timestamp: TIME }, WHY, MOST);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a dead letter that would be too large', () => {
  const small = Buffer.from('small');
  const large = Buffer.alloc(10_000, 'x');

  it('has the size and digest of the value instead of the value', () => {
    const letter = bounded({ key: small, value: large, headers: { trace: small } });
    expect(letter).toMatchObject({ key: small, value: null, headers: { trace: small } });
    const leftOut = [{ part: 'value', bytes: 10_000, sha256: sha256(large) }];
    expect(decodeDeadLetter(letter)).toEqual({ ...SOURCE, timestamp: TIME, ...WHY, leftOut });
  });

  it('leaves out only the headers if they are the largest part', () => {
    const letter = bounded({ key: small, value: small, headers: { a: [large, large], b: small } });
    expect(letter).toMatchObject({ key: small, value: small });
    expect(Object.keys(letter.headers).every((name) => name.startsWith('ranklog_'))).toBe(true);
    const [part] = decodeDeadLetter(letter)?.leftOut ?? [];
    expect(part).toEqual({ part: 'headers', bytes: 20_038, sha256: undefined });
  });

  it('leaves out all parts if all are too large', () => {
    const letter = bounded({ key: large, value: large, headers: { large } });
    expect(letter).toMatchObject({ key: null, value: null });
    expect(decodeDeadLetter(letter)?.leftOut.map(({ part }) => part)).toEqual([
      'value',
      'key',
      'headers',
    ]);
  });

  it('has no digest headers if its record has them from an earlier dead letter, but fits', () => {
    const { headers } = bounded({ key: small, value: large, headers: {} });
    expect(decodeDeadLetter(bounded({ key: small, value: small, headers }))?.leftOut).toEqual([]);
  });

  const part = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 4_000 }));
  const bytes = part.map((some) => Buffer.from(some));
  const record: fc.Arbitrary<RawRecord> = fc.record({
    key: fc.option(bytes, { nil: null }),
    value: fc.option(bytes, { nil: null }),
    headers: fc.dictionary(fc.string({ maxLength: 40 }), fc.oneof(bytes, fc.array(bytes)), {
      maxKeys: 8,
    }),
  });

  it('is never larger than the limit, and is whole if it fits', () => {
    fc.assert(
      fc.property(record, (given) => {
        const letter = bounded(given);
        const whole = encodeDeadLetter(SOURCE, { ...given, timestamp: TIME }, WHY);
        if (batchBytes(whole) <= MOST) expect(letter).toEqual(whole);
        else expect(batchBytes(letter)).toBeLessThanOrEqual(MOST);
      }),
    );
  });
});

describe('the id of a cause', () => {
  it('is topic/partition/offset', () => {
    expect(causeId(SOURCE)).toBe('ranklog.score-events/3/41205');
  });
});
