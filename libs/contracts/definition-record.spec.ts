import { describe, expect, it } from '@jest/globals';
import { definitionText, parseBoardsFile, type BoardDefinition } from '#board';
import {
  decodeDefinitionRecord,
  encodeDefinitionRecord,
  type DefinitionRecord,
} from './definition-record.js';
import { MalformedRecordError } from './result-contract.js';

const FILE = `
boards:
  arena:
    columns: [{ name: points, decimals: 1, min: -5 }, { name: seconds, update: best, order: asc }]
    windows: [all, { window: day, keep: 30d }, { season: spring, from: 2026-03-01, to: 2026-06-01 }]
    dimensions: [[], [region]]
    deduplicate: 1h
    publish: { leaders: 3, windows: [all] }
`;
const [definition] = parseBoardsFile(FILE, 'boards.yaml') as [BoardDefinition];
const VOID = { partition: 1, offset: 17, timestamp: 1_795_165_200_000 };
const IN_FORCE: DefinitionRecord = {
  board: 'arena',
  generation: '1795165200000000-0a1b2c3d',
  since: 1_795_165_200_000_001,
  definition,
};

const record = (value: string, headers = {}, key = 'arena') => ({
  key: Buffer.from(key),
  value: Buffer.from(value),
  headers,
});
const encoded = (fields: object = {}) =>
  encodeDefinitionRecord({ ...IN_FORCE, ...fields }, 'ranklog.definitions').value;

/** The value of the record, with a changed definition. */
const withDefinition = (change: (fields: Record<string, unknown>) => unknown) => {
  const fields = JSON.parse(definitionText(definition)) as Record<string, unknown>;
  return JSON.stringify({ ...(JSON.parse(encoded()) as object), definition: change(fields) });
};

function problems(...args: Parameters<typeof record>): string {
  try {
    decodeDefinitionRecord(record(...args));
  } catch (error) {
    if (error instanceof MalformedRecordError) return error.problems;
    throw error;
  }
  throw new Error('accepted');
}

describe('a definition record', () => {
  it.each<[string, DefinitionRecord]>([
    ['of a whole log', IN_FORCE],
    [
      'of a part of the log',
      {
        ...IN_FORCE,
        starts: new Map([
          [0, 12],
          [10, 0],
        ]),
      },
    ],
    ['of a board that was removed', { ...IN_FORCE, definition: null }],
    ['with voided scores', { ...IN_FORCE, definition: { ...definition, voids: [VOID] } }],
  ])('%s is decoded to the same value', (_, current) => {
    const { key, value, headers } = encodeDefinitionRecord(current, 'ranklog.definitions');
    expect(decodeDefinitionRecord(record(value, headers, key))).toEqual(current);
  });

  it('has the definition as Redis stores it, and an id from board and since', () => {
    const { key, value, headers } = encodeDefinitionRecord(IN_FORCE, 'own.definitions');
    expect(key).toBe('arena');
    expect(value).toContain(`"definition":${definitionText(definition)}`);
    expect(headers).toMatchObject({
      ce_id: 'arena/1795165200000001',
      ce_type: 'ranklog.definition.v1',
      ce_source: '/ranklog/own.definitions',
    });
  });

  it('is read without headers, and with unknown fields outside of the definition', () => {
    const value = JSON.stringify({ ...(JSON.parse(encoded()) as object), more: 1 });
    expect(decodeDefinitionRecord(record(value))).toEqual(IN_FORCE);
  });
});

describe('an invalid definition record', () => {
  it.each([
    ['nothing', '', 'not JSON'],
    ['text', 'hello', 'not JSON'],
    ['a list', '[]', 'must be an object'],
    ['an empty object', '{}', 'board'],
    [
      'a number for the definition',
      encoded({ definition: null }).replace('null', '1'),
      'definition',
    ],
    ['a fraction for since', encoded({ since: 0.5 }), 'since'],
    ['starts with invalid offsets', encoded({ starts: new Map([[0, -1]]) }), 'starts'],
    ['starts with invalid partitions', encoded().replace(/}$/, ',"starts":{"first":1}}'), 'starts'],
  ])('is refused with a reason: %s', (_, value, reason) => {
    expect(problems(value)).toContain(reason);
  });

  it.each<[string, (fields: Record<string, unknown>) => unknown, string]>([
    ['empty', () => ({}), 'lacks fields'],
    ['a list', () => [], 'definition'],
    ['without columns', (fields) => ({ ...fields, columns: undefined }), 'lacks fields'],
    ['with an invalid column', (fields) => ({ ...fields, columns: [1] }), 'definition: '],
    ['with empty columns', (fields) => ({ ...fields, columns: [] }), 'columns'],
    ['with unknown ties', (fields) => ({ ...fields, ties: 'random' }), 'ties'],
    ['of another board', (fields) => ({ ...fields, board: 'other' }), 'another board'],
    ['with voids without places', (fields) => ({ ...fields, voids: [7] }), 'lacks fields'],
    ['with a longer place', (fields) => ({ ...fields, voids: [[0, 1, 3, 4]] }), 'does not know'],
    ['of a later version', (fields) => ({ ...fields, decay: '1d' }), 'does not know'],
  ])('is refused with a reason: a definition %s', (_, change, reason) => {
    expect(problems(withDefinition(change))).toContain(reason);
  });

  it('is refused for its type or its key', () => {
    expect(problems(encoded(), { ce_type: 'ranklog.rank-changed.v1' })).toContain('ce_type');
    expect(problems(encoded(), {}, 'other')).toContain('the key is other');
  });
});
