import { describe, expect, it } from '@jest/globals';
import type { Message } from 'kafkajs';
import { consoleConsumerIds, readDeadLetters, readRankChanges } from '../support/results.js';
import { useScoreTopic } from './score-topic.js';

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
  closing:
    columns: [{ name: points }]
    windows: [{ window: day, close: { from: 2026-03-01 } }]
  guilds:
    columns: [{ name: points }]
    dimensions: [[guild, region]]
`;

const ARENA = { board: 'arena', playerId: 'p', delta: 1, attributes: { region: 'eu' } };
const event = (fields: object) => JSON.stringify({ ...ARENA, ...fields });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `g-${index}`);

/**
 * Good events, sent before the bad records. For three of those they make a full sum, a board with
 * all its views, a late clock.
 */
const GOOD: readonly Message[] = [
  { key: 'full', value: event({ playerId: 'full', delta: '90071992547409.91' }) },
  { key: 'p', value: event({ delta: '0.10' }) },
  { key: 'p', value: event({ board: 'daily', occurredAt: '2026-03-10T12:00:00Z' }) },
  { key: 'p', value: event({ board: 'crowded', attributes: { guild: ['red', 'blue'] } }) },
];

/** The problem, the value of the record, and the code of its dead letter. */
const BAD: readonly (readonly [what: string, value: string | Buffer | null, code: string])[] = [
  ['a null value', null, 'EMPTY_VALUE'],
  ['no JSON', 'points: 3', 'NOT_JSON'],
  ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'NOT_UTF8'],
  ['1 MB that is not JSON', 'x'.repeat(1_000_000), 'NOT_JSON'],
  ['an array', '[]', 'NOT_AN_OBJECT'],
  ['a number in place of an id', event({ playerId: 7 }), 'INVALID_ID'],
  ['an exponent', event({}).replace('1', '1e3'), 'INVALID_NUMBER'],
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
    'a day that has closed',
    event({ board: 'closing', occurredAt: '2026-03-08T23:59:59Z' }),
    'WINDOW_CLOSED',
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

describe('records that their boards refuse, or that name no board', () => {
  const made = useScoreTopic({ boards: BOARDS, partitions: 1 });
  const viewsOf = async (board: string) =>
    (await made.instance.reader.views(board)).map(({ view }) => view);

  it('become dead letters with their bytes and a reason, once each; other records are applied', async () => {
    const { instance, log } = made;
    const { kafka, topics, reader } = instance;
    const bad: Message[] = BAD.map(([what, value]) => {
      return { key: what, value, headers: { trace: what } };
    });
    const last: Message = { key: 'p', value: event({ delta: '0.20' }) };
    await log.sendMessages([...GOOD], ...bad.map((record) => [record]), [last]);
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
    const { entries } = await reader.standings('arena', { view: 'all region=eu', limit: 10 });
    expect(entries.map(({ playerId, columns }) => [playerId, columns['points']])).toEqual([
      ['full', '90071992547409.91'],
      ['p', '0.30'],
    ]);
    expect(await viewsOf('daily')).toEqual(['day:2026-03-10']);
    expect(await viewsOf('crowded')).toEqual(['all guild=blue', 'all guild=red']);
    for (const board of ['bounded', 'closing', 'guilds']) expect(await viewsOf(board)).toEqual([]);
  });
});
