import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEAD_LETTER_CODES } from './dead-letter-codes.js';
import { decodeScoreEvent, decodeText, type DecodedScoreEvent } from './decode-score-event.js';
import { encodeHeaders } from '../../test/support/record-headers.js';
import { MAX_HEADERS, type RecordHeaders } from './record.js';

const NAMES = '"board":"arena","playerId":"p-17"';
const withFields = (fields: string) => `{${NAMES},${fields}}`;
const record = (value: Buffer | string | null, headers: RecordHeaders = {}) => ({
  key: Buffer.from('p-17'),
  value: typeof value === 'string' ? Buffer.from(value) : value,
  headers,
});

function decoded(text: string, headers?: RecordHeaders): DecodedScoreEvent {
  const result = decodeScoreEvent(record(text, headers));
  if (!result.ok) throw new Error(`${result.code}: ${result.detail}`);
  return result.event;
}

function refused(value: Buffer | string | null, headers?: RecordHeaders) {
  const result = decodeScoreEvent(record(value, headers));
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.event)}`);
  return { code: result.code, detail: result.detail };
}

describe('the headers of a score event', () => {
  const text = withFields('"delta":1');
  const sent = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => [name(index), 'x'] as const);

  it.each([
    ['different', (index: number) => `h${index}`],
    ['repeated', () => 'h'],
  ])('are at most 256, also if they are %s', (_, name) => {
    for (const count of [MAX_HEADERS, MAX_HEADERS + 1]) {
      const encodedHeaders = encodeHeaders(sent(count, name));
      const headers = encodedHeaders.decode();
      for (const given of [record(text, headers), { ...record(text, headers), encodedHeaders }]) {
        const result = decodeScoreEvent(given);
        if (count === MAX_HEADERS) expect(result.ok).toBe(true);
        else expect(result).toMatchObject({ ok: false, code: 'TOO_MANY_HEADERS' });
      }
    }
  });

  it('are decoded only if they are read by name', () => {
    const encodedHeaders = encodeHeaders([
      ...[['ce_id', 'e-1'] as const, ['ce_specversion', '1.0'] as const, ['trace', 'x'] as const],
    ]);
    const fetched = {
      ...{ key: null, value: Buffer.from(text), encodedHeaders },
      get headers(): RecordHeaders {
        throw new Error('all headers were decoded');
      },
    };
    expect(decodeScoreEvent(fetched)).toMatchObject({ ok: true, event: { eventId: 'e-1' } });
  });
});

describe('a score event', () => {
  it('is decoded to decimal texts, a time in ms, and its attributes', () => {
    const text = `{"board":"arena","playerId":"p-17","delta":12,"occurredAt":"2026-11-20T09:00:00.123Z","eventId":"e-1","attributes":{"region":"eu"},"more":[1]}`;
    expect(decoded(text)).toEqual({
      board: 'arena',
      playerId: 'p-17',
      delta: '12',
      occurredAt: Date.parse('2026-11-20T09:00:00.123Z'),
      eventId: 'e-1',
      attributes: { region: 'eu' },
    });
  });

  it('needs only a board, a player and a number', () => {
    expect(decoded(withFields('"delta":"1"'))).toStrictEqual({
      board: 'arena',
      playerId: 'p-17',
      delta: '1',
      attributes: {},
    });
  });

  it('can have deltas by column instead of delta', () => {
    expect(decoded(withFields('"deltas":{"points":3,"goals":"-0.50"}')).deltas).toEqual({
      points: '3',
      goals: '-0.50',
    });
  });

  it('can have a time before 1970', () => {
    expect(
      decoded(withFields('"delta":1,"occurredAt":"1969-12-31T23:59:59.9999Z"')).occurredAt,
    ).toBe(-1);
  });

  it('reads null in an optional field as absent', () => {
    const nulls = '"deltas":null,"occurredAt":null,"eventId":null,"attributes":null';
    expect(decoded(withFields(`"delta":1,${nulls}`))).toEqual(decoded(withFields('"delta":1')));
  });

  it('has the last value of a repeated field, even if the JSON is parsed again for its numbers', () => {
    const twice = '"delta":1e3,"delta":5';
    expect(decoded(withFields(`"x":1,"x":2,${twice}`)).delta).toBe('5');
    expect(refused(withFields('"delta":5,"delta":1e3')).code).toBe('INVALID_NUMBER');
  });

  it('has own fields only: __proto__ is an unknown field', () => {
    expect(refused('{"__proto__":{"board":"arena"},"playerId":"p-17","delta":1}').code).toBe(
      'INVALID_ID',
    );
    expect(decoded(withFields('"delta":1,"__proto__":{"eventId":"e-1"}'))).not.toHaveProperty(
      'eventId',
    );
    const { attributes } = decoded(withFields('"delta":1,"attributes":{"__proto__":"eu"}'));
    expect(Object.entries(attributes)).toEqual([['__proto__', 'eu']]);
    const { deltas } = decoded(withFields('"deltas":{"__proto__":"5"}'));
    expect(Object.entries(deltas ?? {})).toEqual([['__proto__', '5']]);
  });

  it('can have several values, one or none for an attribute', () => {
    const attributes = { guild: ['red', 'blue', 'red'], team: ['a'], clan: [], region: 'eu' };
    const text = withFields(`"delta":1,"attributes":${JSON.stringify(attributes)}`);
    expect(decoded(text).attributes).toEqual(attributes);
  });

  it('does not normalise ids', () => {
    expect(decoded('{"board":"é","playerId":"e\\u0301","delta":1}')).toMatchObject({
      board: '\u00e9',
      playerId: 'e\u0301',
    });
  });
});

describe('a JSON number', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['1.0', '1'],
    ['1.50', '1.5'],
    ['-12.25', '-12.25'],
    ['999999999999999', '999999999999999'],
    ['0.123456789012345', '0.123456789012345'],
    ['0.0000001', '0.0000001'],
    ['0.00000010', '0.0000001'],
    ['10000000000000000', '10000000000000000'],
    ['1000000000000000000000', '1000000000000000000000'],
    ['1.0000000000000000000', '1'],
  ])('%s is read as the decimal %s, whatever else is in the event', (number, text) => {
    expect(decoded(withFields(`"delta":${number}`)).delta).toBe(text);
    expect(decoded(withFields(`"x":1e3,"delta": ${number} ,"y":[9007199254740993]`)).delta).toBe(
      text,
    );
    expect(decoded(withFields(`"deltas":{"a":${number},"b":"1"}`)).deltas).toEqual({
      a: text,
      b: '1',
    });
  });

  it.each([
    '1e3',
    '1E3',
    '1e-3',
    '-1e0',
    '0e0',
    '1e400',
    '1e-400',
    '9007199254740992',
    '9007199254740993',
    '1234567890123456',
    '1.0000000000000001',
    '1.0000000000000000001',
    '0.1000000000000000055511151231257827',
    `0.${'0'.repeat(400)}1`,
    '1'.repeat(400),
  ])('%s is refused, and the detail suggests a string', (number) => {
    for (const text of [
      `"delta":${number}`,
      `"delta" :\n\t${number}`,
      `"deltas":{"a":1,"b":${number}}`,
    ]) {
      const { code, detail } = refused(withFields(text));
      expect(code).toBe('INVALID_NUMBER');
      expect(detail).toMatch(/string/);
      expect(detail).toMatch(/^(delta|deltas\.b) is /);
    }
  });

  it('is accepted if it has up to 15 digits and no exponent', () => {
    const part = (pattern: RegExp) => fc.stringMatching(pattern);
    const number = fc
      .tuple(
        part(/^-?$/),
        fc.oneof(fc.constant('0'), part(/^[1-9]\d{0,17}0{0,6}$/)),
        part(/^(\.0{0,8}\d{1,9}0{0,3})?$/),
        fc.oneof({ weight: 9, arbitrary: fc.constant('') }, part(/^[eE][+-]?\d$/)),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(number, (text) => {
        const digits = text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
        const result = decodeText(withFields(`"delta":${text}`));
        expect(result.ok).toBe(digits.length <= 15 && !/e/i.test(text));
        const value = (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace(/^-0$/, '0');
        if (result.ok) expect(result.event.delta).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a decimal string', () => {
  it.each(['0', '-1', '12.50', '9007199254740993', '0.1000000000000000055511151231257827'])(
    '%s is kept',
    (text) => {
      expect(decoded(withFields(`"delta":"${text}"`)).delta).toBe(text);
    },
  );

  it.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '1e3',
    'NaN',
    'Infinity',
    '0x1',
    '1,5',
    '.5',
    '5.',
    '9'.repeat(65),
  ])('%j is refused', (text) => {
    expect(refused(withFields(`"delta":"${text}"`)).code).toBe('INVALID_NUMBER');
    expect(refused(withFields(`"deltas":{"points":"${text}"}`)).code).toBe('INVALID_NUMBER');
  });
});

describe('an invalid score event', () => {
  const bytes = (...values: number[]) => Buffer.from([0x22, ...values, 0x22]);

  it.each<[string, Buffer | string | null, keyof typeof DEAD_LETTER_CODES]>([
    ['null', null, 'EMPTY_VALUE'],
    ['nothing', '', 'EMPTY_VALUE'],
    ['blanks', '  ', 'NOT_JSON'],
    ['text', 'hello', 'NOT_JSON'],
    ['half an event', `{${NAMES}`, 'NOT_JSON'],
    ['two events', `${withFields('"delta":1')}${withFields('"delta":1')}`, 'NOT_JSON'],
    ['NaN for a number', withFields('"delta":NaN'), 'NOT_JSON'],
    ['a number with a leading zero', withFields('"delta":01'), 'NOT_JSON'],
    ['a byte order mark', `\ufeff${withFields('"delta":1')}`, 'NOT_JSON'],
    ['a raw line feed in a text', withFields('"delta":1,"eventId":"a\nb"'), 'NOT_JSON'],
    ['a stray byte', bytes(0xff), 'NOT_UTF8'],
    ['half a character', bytes(0xc3), 'NOT_UTF8'],
    ['an overlong slash', bytes(0xc0, 0xaf), 'NOT_UTF8'],
    ['a surrogate in CESU-8', bytes(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80), 'NOT_UTF8'],
    ['UTF-16', Buffer.from(`\ufeff${withFields('"delta":1')}`, 'utf16le'), 'NOT_UTF8'],
    ['a list', '[]', 'NOT_AN_OBJECT'],
    ['a list of events', `[${withFields('"delta":1')}]`, 'NOT_AN_OBJECT'],
    ['a JSON null', 'null', 'NOT_AN_OBJECT'],
    ['a JSON text', '"delta"', 'NOT_AN_OBJECT'],
    ['a JSON number', '1e3', 'NOT_AN_OBJECT'],
    ['no fields', '{}', 'INVALID_ID'],
    ['no board', '{"playerId":"p","delta":1}', 'INVALID_ID'],
    ['no player', '{"board":"b","delta":1}', 'INVALID_ID'],
    ['a null player', '{"board":"b","playerId":null,"delta":1}', 'INVALID_ID'],
    ['a number for a player', '{"board":"b","playerId":17,"delta":1}', 'INVALID_ID'],
    ['an empty board', '{"board":"","playerId":"p","delta":1}', 'INVALID_ID'],
    [
      'a player of 1,000 characters',
      `{"board":"b","playerId":"${'x'.repeat(1_000)}","delta":1}`,
      'INVALID_ID',
    ],
    [
      'a player of 1 MB',
      `{"board":"b","playerId":"${'x'.repeat(1_000_000)}","delta":1}`,
      'INVALID_ID',
    ],
    [
      'a player with a lone surrogate',
      '{"board":"b","playerId":"a\\ud800","delta":1}',
      'INVALID_ID',
    ],
    ['a player with a NUL', '{"board":"b","playerId":"a\\u0000","delta":1}', 'INVALID_ID'],
    ['an event id with DEL', withFields('"delta":1,"eventId":"\\u007f"'), 'INVALID_ID'],
    ['no number', `{${NAMES}}`, 'DELTA_OR_DELTAS'],
    ['both numbers', withFields('"delta":1,"deltas":{"a":1}'), 'DELTA_OR_DELTAS'],
    ['a list for delta', withFields('"delta":[1]'), 'INVALID_NUMBER'],
    ['true for delta', withFields('"delta":true'), 'INVALID_NUMBER'],
    ['an object for delta', withFields('"delta":{"points":1}'), 'INVALID_NUMBER'],
    ['a list for deltas', withFields('"deltas":[]'), 'INVALID_NUMBER'],
    ['empty deltas', withFields('"deltas":{}'), 'INVALID_NUMBER'],
    ['null in deltas', withFields('"deltas":{"points":null}'), 'INVALID_NUMBER'],
    ['an object in deltas', withFields('"deltas":{"points":{"value":1}}'), 'INVALID_NUMBER'],
    [
      'a time without a zone',
      withFields('"delta":1,"occurredAt":"2026-11-20T09:00:00"'),
      'INVALID_TIME',
    ],
    [
      'a time in year 10000',
      withFields('"delta":1,"occurredAt":"10000-01-01T00:00:00Z"'),
      'INVALID_TIME',
    ],
    [
      'a time in year 0000',
      withFields('"delta":1,"occurredAt":"0000-01-01T00:00:00Z"'),
      'INVALID_TIME',
    ],
    ['a number for a time', withFields('"delta":1,"occurredAt":1763629200000'), 'INVALID_TIME'],
    ['a list for attributes', withFields('"delta":1,"attributes":[]'), 'INVALID_ATTRIBUTES'],
    [
      'a number in attributes',
      withFields('"delta":1,"attributes":{"region":1}'),
      'INVALID_ATTRIBUTES',
    ],
  ])('is refused for %s', (_, value, code) => {
    expect(refused(value).code).toBe(code);
  });

  it.each([
    ['"delta":" 1"', 'delta is " 1"; delta must be a decimal string such as "12" or "-0.5"'],
    ['"delta":9007199254740993', 'delta is 9007199254740992; '],
    [
      '"delta":1e3',
      'delta is 1e3, which has an exponent or more than 15 significant digits; send it as a decimal string',
    ],
    [
      '"deltas":{"points":3,"goals":"1e3"}',
      'deltas.goals is "1e3"; deltas must be an object with values for 1 to 64 inputs',
    ],
    ['"deltas":{"a\\nb":3}', 'deltas has the name "a\\nb"; '],
    ['"deltas":{}', 'deltas is an empty object'],
    [
      '"delta":1,"attributes":{"region":{"name":"eu"}}',
      'attributes.region is an object with "name"; attributes must be an object of strings, or of lists',
    ],
    [
      '"delta":1,"attributes":{"region":"eu","guild":["a","b","c","","e"]}',
      'attributes.guild[3] is ""; attributes must be',
    ],
    ['"delta":1,"attributes":{"guild":["a",7]}', 'attributes.guild[1] is 7; '],
    ['"delta":1,"attributes":{"guild":[["a"]]}', 'attributes.guild[0] is an array of 1; '],
    [
      `"delta":1,"attributes":{"guild":${JSON.stringify(Array(65).fill('a'))}}`,
      'attributes.guild is an array of 65; attributes must be an object of strings, or of lists of up to 64 strings',
    ],
    [
      '"delta":1,"occurredAt":"2026-02-30T00:00:00Z"',
      'occurredAt is "2026-02-30T00:00:00Z"; occurredAt must be an RFC 3339 time with a zone',
    ],
  ])('is refused with the value and what is allowed: %s', (fields, detail) => {
    expect(refused(withFields(fields)).detail).toContain(detail);
  });

  it('is refused for 65 inputs, with the limit in the detail', () => {
    const columns = (count: number) =>
      withFields(
        `"deltas":${JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, 1])))}`,
      );
    expect(Object.keys(decoded(columns(64)).deltas ?? {})).toHaveLength(64);
    expect(refused(columns(65)).detail).toMatch(/\(65 names\); .* 1 to 64 inputs/);
  });
});

describe('nesting', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it('is accepted up to 100 levels including the event, even if the JSON is parsed again for its numbers', () => {
    for (const number of ['1', '0.00000001']) {
      expect(decoded(withFields(`"delta":${number},"x":${nested(99)}`)).delta).toBe(number);
      expect(refused(withFields(`"delta":${number},"x":${nested(100)}`)).code).toBe(
        'NESTED_TOO_DEEPLY',
      );
    }
  });

  it('of a megabyte is refused', () => {
    expect(refused(withFields(`"delta":1e3,"x":${nested(500_000)}`)).code).toBe(
      'NESTED_TOO_DEEPLY',
    );
    expect(refused('['.repeat(1_000_000)).code).toBe('NOT_JSON');
    expect(refused(nested(500_000)).code).toBe('NOT_AN_OBJECT');
    expect(refused(`{"a":`.repeat(200_000)).code).toBe('NOT_JSON');
  });
});

describe('decoding', () => {
  it.each([
    ['blanks', withFields(`"delta":1${' '.repeat(1_000_000)}`)],
    ['digits', withFields(`"delta":1,"x":${'1'.repeat(1_000_000)}`)],
    ['text', withFields(`"delta":1,"x":"${'e9'.repeat(500_000)}"`)],
    ['colons and blanks', withFields(`"delta":1,"x":"${': '.repeat(500_000)}"`)],
    ['numbers', withFields(`"delta":1,"x":[${'1e3,'.repeat(250_000)}0]`)],
    ['small objects', withFields(`"delta":1,"x":[${'{},'.repeat(330_000)}0]`)],
  ])('of a megabyte of %s takes bounded time', (_, text) => {
    const start = process.cpuUsage();
    expect(decoded(text).delta).toBe('1');
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
  });

  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ stringUnit: 'binary' }).map((text) => Buffer.from(text)),
    fc.tuple(fc.json(), fc.nat(), fc.nat(255)).map(([text, at, byte]) => {
      const bytes = Buffer.from(withFields(`"delta":1,"x":${text},"y":1e3`));
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
    fc.constant(null),
  );
  const headerValue = fc.oneof(
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom('1.0', '0.3', 'application/json', 'application/cloudevents+json'),
  );
  const headers = fc.dictionary(
    fc.constantFrom('ce_specversion', 'ce_id', 'ce_type', 'content-type', 'other'),
    fc.oneof(headerValue, fc.array(headerValue, { maxLength: 2 })),
  );

  it('never throws, and refuses with a known code and one line of detail', () => {
    fc.assert(
      fc.property(anyBytes, headers, (value, some) => {
        const result = decodeScoreEvent({ key: null, value, headers: some });
        if (result.ok) return;
        expect(Object.keys(DEAD_LETTER_CODES)).toContain(result.code);
        expect(result.detail).not.toMatch(/\p{Cc}/u);
        expect(result.detail.isWellFormed()).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives the same result for a text and for a record with this value', () => {
    const text = withFields('"delta":1');
    expect(decodeText(text)).toEqual(decodeScoreEvent(record(text)));
  });
});
