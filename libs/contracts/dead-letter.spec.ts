import { describe, expect, it } from '@jest/globals';
import { causeId, decodeDeadLetter, encodeDeadLetter } from './dead-letter.js';
import type { RecordHeaders } from './record.js';

const SOURCE = { topic: 'ranklog.score-events', partition: 3, offset: 41_205 };
const encode = (headers: RecordHeaders, detail = 'why') =>
  encodeDeadLetter(SOURCE, { key: null, value: null, headers }, 'NOT_JSON', detail);

describe('a dead letter', () => {
  it('has the key and the value of its record, byte for byte', () => {
    const key = Buffer.from([0, 0xff]);
    const value = Buffer.from([0xed, 0xa0, 0xbd]);
    const letter = encodeDeadLetter(SOURCE, { key, value, headers: {} }, 'NOT_UTF8', 'why');
    expect(letter.key).toBe(key);
    expect(letter.value).toBe(value);
  });

  it('has a null key and a null value where the record has', () => {
    expect(encode({})).toMatchObject({ key: null, value: null });
  });

  it('keeps the headers of its record, CloudEvents ids and repeated ones too', () => {
    const headers = {
      ce_id: Buffer.from([0xff]),
      trace: [Buffer.from('a'), Buffer.from('b')],
      own: 'x',
    };
    const { ce_id, trace, own } = encode(headers).headers as Record<string, unknown>;
    expect({ ce_id, trace, own }).toStrictEqual(headers);
  });

  it('has an empty header for one without a value, which kafkajs can not write', () => {
    const headers = { none: null, absent: undefined, some: [null, Buffer.from('b')] };
    const letter: Record<string, unknown> = encode(headers as unknown as RecordHeaders).headers;
    // toMatchObject would take null for an empty Buffer.
    expect(letter['none']).toStrictEqual(Buffer.alloc(0));
    expect(letter['absent']).toStrictEqual(Buffer.alloc(0));
    expect(letter['some']).toStrictEqual([Buffer.alloc(0), Buffer.from('b')]);
  });

  it('says why and where it comes from, in words that read back', () => {
    const { headers } = encode({});
    expect(headers).toMatchObject({ ranklog_id: 'ranklog.score-events/3/41205' });
    expect(decodeDeadLetter({ key: null, value: null, headers })).toEqual({
      ...SOURCE,
      code: 'NOT_JSON',
      detail: 'why',
    });
  });

  it('that is sent again as it was says why it failed the last time', () => {
    const { headers } = encode({ ranklog_reason: 'UNKNOWN_BOARD', ranklog_detail: 'earlier' });
    expect(headers).toMatchObject({ ranklog_reason: 'NOT_JSON', ranklog_detail: 'why' });
  });

  it.each([
    ['a'.repeat(1_024), 1_024],
    ['a'.repeat(1_025), 1_024],
    [`a${'é'.repeat(1_000)}`, 1_023],
    ['😀'.repeat(300), 1_024],
    [`a${'😀'.repeat(300)}`, 1_021],
  ])('has at most 1,024 bytes of detail, in whole characters', (detail, length) => {
    const cut = encode({}, detail).headers['ranklog_detail'];
    expect(Buffer.byteLength(cut)).toBe(length);
    expect(detail.startsWith(cut)).toBe(true);
  });

  it('is not made of any other record', () => {
    expect(decodeDeadLetter({ key: null, value: null, headers: {} })).toBeUndefined();
  });
});

describe('the id of a cause', () => {
  it('is topic/partition/offset', () => {
    expect(causeId(SOURCE)).toBe('ranklog.score-events/3/41205');
  });
});
