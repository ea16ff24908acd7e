import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { isEventTime } from '#contracts';
import { recordSchemas } from '../../scripts/api-docs/record-schemas.mjs';

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const FOLDER = 'schemas';
const files = readdirSync(FOLDER).filter((file) => file !== 'boards.schema.json');

const GOLDEN = 'test/contracts/golden';
const golden = readdirSync(GOLDEN).map((file) => {
  const record = read(`${GOLDEN}/${file}`) as { headers: object; value?: string };
  return [file.replace('.json', ''), record] as const;
});

/** The file of the schema by the beginning of a golden record's name. */
const SCHEMAS = {
  'score-event': 'score-event',
  player: 'player-record',
  'rank-change': 'rank-change',
  'leader-change': 'leader-change',
  'period-result': 'period-result',
  definition: 'definition',
  'dead-letter': 'dead-letter-headers',
};

const compile = (name: string) =>
  new Ajv({ formats: { 'date-time': isEventTime }, allowUnionTypes: true }).compile(
    read(`${FOLDER}/${name}.schema.json`) as object,
  );

describe('the schemas of records', () => {
  it('are those of the code (if not: npm run api-docs)', () => {
    const found = Object.fromEntries(files.map((file) => [file, read(`${FOLDER}/${file}`)]));
    expect(found).toEqual(JSON.parse(JSON.stringify(recordSchemas())));
  });

  it.each(golden)('accept the golden record %s', (name, { headers, value }) => {
    const [, schema] = Object.entries(SCHEMAS).find(([begin]) => name.startsWith(begin)) ?? [];
    const validate = compile(schema ?? '');
    const isLetter = schema === 'dead-letter-headers';
    validate(isLetter ? headers : JSON.parse(value ?? ''));
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each(Object.values(SCHEMAS))('refuse an object without fields as a %s', (name) => {
    expect(compile(name)({})).toBe(false);
  });
});
