import { describe, expect, it } from '@jest/globals';
import { cloudEventHeaders, RANK_CHANGED_TYPE, SCORE_EVENT_TYPE } from './cloud-events.js';
import { decodeScoreEvent } from './decode-score-event.js';
import type { RecordHeaders } from './record.js';

const VALUE = Buffer.from('{"board":"arena","playerId":"p-17","delta":1}');
const decode = (headers: RecordHeaders, value = VALUE) =>
  decodeScoreEvent({ key: null, value, headers });
const bytes = (headers: Record<string, string | undefined>): RecordHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, text && Buffer.from(text)]),
  );

const HEADERS = cloudEventHeaders({ id: 'e-1', type: SCORE_EVENT_TYPE, source: '/games' });

function eventId(headers: RecordHeaders, value = VALUE): string | undefined {
  const result = decode(headers, value);
  if (!result.ok) throw new Error(result.detail);
  return result.event.eventId;
}

describe('a score event with CloudEvents headers', () => {
  it.each([
    ['all headers', HEADERS],
    ['no type', { ...HEADERS, ce_type: undefined }],
    ['only a type', { ce_type: SCORE_EVENT_TYPE }],
    [
      'JSON with a character set',
      { ...HEADERS, 'content-type': 'Application/JSON; charset=utf-8' },
    ],
    ['a JSON subtype', { ...HEADERS, 'content-type': 'application/vnd.goal+json' }],
    ['another content type, but no CloudEvents headers', { 'content-type': 'text/plain' }],
  ])('is accepted with %s', (_, headers) => {
    expect(decode(bytes(headers))).toMatchObject({ ok: true, event: { delta: '1' } });
  });

  it.each([
    [
      'structured mode',
      { 'content-type': 'application/cloudevents+json; charset=utf-8' },
      'is not binary mode; send binary mode',
    ],
    ['a batch', { 'content-type': 'application/cloudevents-batch+json' }, 'is not binary mode'],
    [
      'another version',
      { ...HEADERS, ce_specversion: '0.3' },
      'ce_specversion "0.3" is not supported; send 1.0',
    ],
    ['an empty version', { ...HEADERS, ce_specversion: '' }, 'ce_specversion ""'],
    [
      'Avro',
      { ...HEADERS, 'content-type': 'application/avro' },
      'content-type "application/avro" is not JSON',
    ],
  ])('is refused with %s', (_, headers, detail) => {
    expect(decode(bytes(headers))).toMatchObject({
      ok: false,
      code: 'UNSUPPORTED_CLOUDEVENT',
      detail: expect.stringContaining(detail),
    });
  });

  it.each([
    ['of a result', RANK_CHANGED_TYPE],
    ['of a later version', 'ranklog.score-event.v2'],
    ['of the sender', 'com.example.goal'],
    ['in another case', 'Ranklog.score-event.v1'],
    ['with a trailing space', 'ranklog.score-event.v1 '],
    ['that is empty', ''],
  ])('is an UNKNOWN_RECORD_TYPE for a ce_type %s, even with other invalid headers', (_, type) => {
    const others = [{}, HEADERS, { ce_specversion: '0.3' }, { 'content-type': 'application/avro' }];
    for (const headers of others)
      expect(decode({ ...bytes(headers), ce_type: Buffer.from(type) }, Buffer.alloc(0))).toEqual({
        ok: false,
        code: 'UNKNOWN_RECORD_TYPE',
        detail: `ce_type ${JSON.stringify(type)} is unknown; send ranklog.score-event.v1 or no ce_type`,
      });
  });

  it('uses the last of repeated headers', () => {
    const versions = (...texts: string[]) => ({
      ce_specversion: texts.map((text) => Buffer.from(text)),
    });
    expect(decode(versions('0.3', '1.0')).ok).toBe(true);
    expect(decode(versions('1.0', '0.3')).ok).toBe(false);
  });

  it('is accepted with headers without a value', () => {
    const headers = { ce_specversion: null, ce_id: null, 'content-type': [null] };
    expect(decode(headers as unknown as RecordHeaders).ok).toBe(true);
  });
});

describe('the id of a CloudEvent', () => {
  it('replaces a missing eventId', () => {
    expect(eventId(bytes(HEADERS))).toBe('e-1');
    const withNull = Buffer.from('{"board":"arena","playerId":"p-17","delta":1,"eventId":null}');
    expect(eventId(bytes(HEADERS), withNull)).toBe('e-1');
  });

  it('does not replace an eventId', () => {
    const value = Buffer.from('{"board":"arena","playerId":"p-17","delta":1,"eventId":"own"}');
    expect(eventId(bytes(HEADERS), value)).toBe('own');
  });

  it('is ignored without ce_specversion', () => {
    expect(eventId({ ce_id: Buffer.from('e-1') })).toBeUndefined();
  });

  it.each([
    ['129 bytes', Buffer.from('x'.repeat(129))],
    ['empty', Buffer.alloc(0)],
    ['a text with a control character', Buffer.from('a\nb')],
    ['bytes that are not UTF-8', Buffer.from([0xff])],
  ])('is ignored if it is %s', (_, id) => {
    expect(eventId({ ...bytes(HEADERS), ce_id: id })).toBeUndefined();
  });
});
