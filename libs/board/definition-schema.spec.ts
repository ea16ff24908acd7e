import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { parseBoardsFile } from './boards-file.js';
import { BOARDS_FILE_SCHEMA } from './definition-schema.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the schema of boards files', () => {
  it('is schemas/boards.schema.json, which "ranklog boards schema" prints', () => {
    const printed = `${JSON.stringify(BOARDS_FILE_SCHEMA, null, 2)}\n`;
    expect(read('schemas/boards.schema.json')).toBe(printed);
  });

  it('is in the package', () => {
    const { files, exports } = JSON.parse(read('package.json')) as Record<string, unknown>;
    expect(files).toContain('schemas');
    expect(exports).toMatchObject({
      './schemas/boards.schema.json': './schemas/boards.schema.json',
    });
  });

  it('says of every field what it is for', () => {
    const fields = [...fieldsOf(BOARDS_FILE_SCHEMA)];
    expect(fields.length).toBeGreaterThan(20);
    for (const [field, { description }] of fields)
      expect([field, description]).toEqual([field, expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  it('takes the example of docs/reference/boards-file.md, field for field', () => {
    const [, example = ''] =
      /```yaml\n(boards:.*?)```/s.exec(read('docs/reference/boards-file.md')) ?? [];
    const validate = new Ajv({ allowUnionTypes: true })
      .addVocabulary(['errorMessage'])
      .compile(BOARDS_FILE_SCHEMA);
    const content: unknown = parse(example);
    expect(validate(content)).toBe(true);
    expect(parseBoardsFile(example, 'example')).toMatchObject([{ board: 'arena' }]);
    const board = (content as { boards: { arena: object } }).boards.arena;
    const { properties } = BOARDS_FILE_SCHEMA.properties.boards.additionalProperties;
    expect(Object.keys(board).sort()).toEqual(Object.keys(properties).sort());
  });

  it('has its limits in the examples that it gives', () => {
    for (const [, schema] of fieldsOf(BOARDS_FILE_SCHEMA))
      for (const example of schema.examples ?? []) {
        const validate = new Ajv({ allowUnionTypes: true })
          .addVocabulary(['errorMessage'])
          .compile(schema);
        expect([example, validate(example)]).toEqual([example, true]);
      }
  });
});

interface Schema {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Every property of the schema, however deep, by its name. */
function* fieldsOf(schema: unknown): Generator<[string, Schema]> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties = {} } = schema as Schema;
  yield* Object.entries(properties);
  for (const part of Object.values(schema)) yield* fieldsOf(part);
}
