import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type Message } from 'kafkajs';
import { TestInstance } from '../support/instance.js';
import { consoleConsumerIds, readDeadLetters, readRankChanges } from '../support/results.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points, decimals: 2 }]
    dimensions: [[], [region]]
  race:
    columns: [{ name: lap, update: best, order: asc, decimals: 3 }, { name: fuel, update: latest }]
  bounded:
    columns: [{ name: points, min: -10, max: 10 }]
  daily:
    columns: [{ name: points }]
    windows: [{ window: day, keep: 1d }]
  crowded:
    columns: [{ name: points }]
    dimensions: [[guild]]
    maxViews: 2
  guilds:
    columns: [{ name: points }]
    dimensions: [[guild, region]]
`;

const event = (fields: object) =>
  JSON.stringify({
    board: 'arena',
    playerId: 'p',
    delta: 1,
    attributes: { region: 'eu' },
    ...fields,
  });
const raw = (fields: string) =>
  `{"board":"arena","playerId":"p","attributes":{"region":"eu"},${fields}}`;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `g-${index}`);

/** Events before the bad records, which fill the boards or advance their clocks. */
const GOOD: readonly Message[] = [
  { key: 'full', value: event({ playerId: 'full', delta: '90071992547409.91' }) },
  { key: 'p', value: event({ delta: '0.10' }) },
  { key: 'p', value: event({ board: 'daily', occurredAt: '2026-03-10T12:00:00Z' }) },
  { key: 'p', value: event({ board: 'crowded', attributes: { guild: ['red', 'blue'] } }) },
];

/** The problem, the value of the record, and the code of its dead letter. */
const BAD: readonly (readonly [what: string, value: string | Buffer | null, code: string])[] = [
  ['a null value', null, 'EMPTY_VALUE'],
  ['an empty value', '', 'EMPTY_VALUE'],
  ['no JSON', 'points: 3', 'NOT_JSON'],
  ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'NOT_UTF8'],
  ['1 MB that is not JSON', 'x'.repeat(1_000_000), 'NOT_JSON'],
  ['an array', '[]', 'NOT_AN_OBJECT'],
  ['a number in place of an id', event({ playerId: 7 }), 'INVALID_ID'],
  ['an id of 1,000 characters', event({ playerId: 'p'.repeat(1_000) }), 'INVALID_ID'],
  ['a control character in an id', event({ playerId: 'p\u0007' }), 'INVALID_ID'],
  ['a lone surrogate in an id', raw('"delta":1').replace('"p"', '"p\\ud800"'), 'INVALID_ID'],
  ['an exponent', raw('"delta":1e3'), 'INVALID_NUMBER'],
  ['a space in a number', event({ delta: ' 1' }), 'INVALID_NUMBER'],
  ['NaN as text', event({ delta: 'NaN' }), 'INVALID_NUMBER'],
  ['NaN in JSON', raw('"delta":NaN'), 'NOT_JSON'],
  ['2^53 as a JSON number', raw('"delta":9007199254740992'), 'INVALID_NUMBER'],
  ['2^53 minor units as a string', event({ delta: '90071992547409.92' }), 'OUT_OF_RANGE'],
  ['too many decimals', event({ delta: '1.234' }), 'TOO_MANY_DECIMALS'],
  ['neither delta nor deltas', event({ delta: undefined }), 'DELTA_OR_DELTAS'],
  ['an unknown board', event({ board: 'arenas' }), 'UNKNOWN_BOARD'],
  ['an unknown column', event({ delta: undefined, deltas: { goals: 1 } }), 'UNKNOWN_COLUMN'],
  [
    'a missing column',
    event({ board: 'race', delta: undefined, deltas: { lap: '1.5' } }),
    'MISSING_COLUMN',
  ],
  ['delta for two columns', event({ board: 'race' }), 'DELTA_NEEDS_ONE_COLUMN'],
  ['a missing dimension', event({ attributes: {} }), 'MISSING_DIMENSION'],
  ['a time without a zone', event({ occurredAt: '2026-01-01T00:00:00' }), 'INVALID_TIME'],
  ['a time in the year 10000', event({ occurredAt: '10000-01-01T00:00:00Z' }), 'INVALID_TIME'],
  ['a time in the future', event({ occurredAt: '9999-01-01T00:00:00Z' }), 'TOO_FAR_AHEAD'],
  ['a sum that leaves the range', event({ playerId: 'full', delta: '0.01' }), 'SUM_OUT_OF_RANGE'],
  ['less than the smallest value', event({ board: 'bounded', delta: '-11' }), 'OUT_OF_BOUNDS'],
  ['more than the largest value', event({ board: 'bounded', delta: 11 }), 'OUT_OF_BOUNDS'],
  [
    'a day that has expired',
    event({ board: 'daily', occurredAt: '2026-03-08T23:59:59Z' }),
    'WINDOW_EXPIRED',
  ],
  [
    'a view beyond the bound of the board',
    event({ board: 'crowded', attributes: { guild: ['red', 'green'] } }),
    'TOO_MANY_VIEWS',
  ],
  [
    '17 x 16 views',
    event({ board: 'guilds', attributes: { guild: numbered(17), region: numbered(16) } }),
    'TOO_MANY_VIEWS_OF_AN_EVENT',
  ],
];

describe('records that can never be applied', () => {
  let instance: TestInstance;
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
  });
  afterEach(() => instance.remove());
  const viewsOf = async (board: string) =>
    (await instance.reader.views(board)).map(({ view }) => view);

  it('become dead letters with their bytes and a reason, once each; other records are applied', async () => {
    const { kafka, topics, reader } = instance;
    const bad: Message[] = BAD.map(([what, value]) => ({
      key: what,
      value,
      headers: { trace: what },
    }));
    const last: Message = { key: 'p', value: event({ delta: '0.20' }) };
    const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    for (const messages of [[...GOOD], bad.slice(0, 4), [bad[4]!], bad.slice(5), [last]])
      await producer.send({ topic: topics.scoreEvents, messages });
    await producer.disconnect();
    await instance.start();
    await instance.published(BAD.length + GOOD.length + 1);

    const letters = await readDeadLetters(kafka, topics);
    expect(letters.map(({ record, code }) => [record.key?.toString(), code])).toEqual(
      BAD.map(([what, , code]) => [what, code]),
    );
    BAD.forEach(([what, value], index) => {
      const { record, offset, detail } = letters[index]!;
      expect(record.value).toEqual(value === null ? null : Buffer.from(value));
      expect(record.headers['trace']?.toString()).toBe(what);
      expect(offset).toBe(GOOD.length + index);
      expect(detail).not.toBe('');
    });
    expect(await consoleConsumerIds(topics.deadLetters, BAD.length)).toHaveLength(BAD.length);
    expect(await readRankChanges(kafka, topics)).toHaveLength(GOOD.length + 1);
    const { entries } = await reader.standings('arena', 'all region=eu', { offset: 0, limit: 10 });
    expect(entries.map(({ playerId, columns }) => [playerId, columns['points']])).toEqual([
      ['full', '90071992547409.91'],
      ['p', '0.30'],
    ]);
    expect(await viewsOf('daily')).toEqual(['day:2026-03-10']);
    expect(await viewsOf('crowded')).toEqual(['all guild=blue', 'all guild=red']);
    expect([...(await viewsOf('bounded')), ...(await viewsOf('guilds'))]).toEqual([]);
  });
});

describe('an invalid boards file', () => {
  it.each([
    ['broken YAML', 'boards: [', 'boards.yaml'],
    ['an unknown field', 'boards: { a: { columns: [{ name: x, sort: up }] } }', 'sort'],
    [
      'two boards of one name',
      'boards:\n  a: { columns: [{ name: x }] }\n  a: { columns: [{ name: y }] }',
      'a',
    ],
  ])('ends the start with exit code 2 and the reason: %s', async (_, text, reason) => {
    const instance = await TestInstance.create(text);
    try {
      const service = instance.spawn('start');
      expect(await service.ended).toBe(2);
      expect(service.errors).toContain('boards.yaml');
      expect(service.errors).toContain(reason);
    } finally {
      await instance.remove();
    }
  });
});
