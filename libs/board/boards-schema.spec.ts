import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { boardsFileSchema, parseBoardsFile } from './boards-file.js';
import {
  CALENDAR_WINDOWS,
  LATE,
  ORDERS,
  RANK_CHANGES,
  RANKS,
  TIES,
  UPDATES,
} from './definition.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The schema of a board, with types for the parts that the tests read. */
const BOARD = boardsFileSchema().properties.boards.additionalProperties as unknown as {
  readonly properties: {
    readonly columns: { readonly items: { readonly properties: object } };
    readonly ties: { readonly enum: unknown };
    readonly late: { readonly enum: unknown };
    readonly windows: { readonly items: { readonly anyOf: readonly Schema[] } };
    readonly publish: { readonly properties: object };
  };
};

describe('the schema of boards files', () => {
  it('allows the values of definition.ts', () => {
    const { columns, ties, late, windows, publish } = BOARD.properties;
    expect(columns.items.properties).toMatchObject({
      update: { enum: UPDATES },
      order: { enum: ORDERS },
    });
    expect([ties.enum, late.enum]).toEqual([TIES, LATE]);
    expect(windows.items.anyOf).toMatchObject([
      { enum: ['all', ...CALENDAR_WINDOWS] },
      { properties: { window: { enum: CALENDAR_WINDOWS } } },
      {},
      {},
    ]);
    expect(publish.properties).toMatchObject({
      rankChanges: { enum: RANK_CHANGES },
      ranks: { enum: [['ordinal'], RANKS] },
    });
  });

  it('is valid JSON Schema', () => {
    expect(new Ajv().validateSchema(boardsFileSchema())).toBe(true);
  });

  it('describes every field', () => {
    const fields = [...fieldsOf(boardsFileSchema())];
    expect(fields.length).toBeGreaterThan(20);
    for (const [field, { description }] of fields)
      expect([field, description]).toEqual([field, expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  it('accepts the example of docs/reference/boards-file.md, which has all fields', () => {
    const [, example = ''] =
      /```yaml\n(boards:.*?)```/s.exec(read('docs/reference/boards-file.md')) ?? [];
    const validate = new Ajv({ allowUnionTypes: true })
      .addVocabulary(['errorMessage'])
      .compile(boardsFileSchema());
    const content: unknown = parse(example);
    expect(validate(content)).toBe(true);
    expect(parseBoardsFile(example, 'example')).toMatchObject([{ board: 'arena' }]);
    const board = (content as { boards: { arena: object } }).boards.arena;
    expect(Object.keys(board).sort()).toEqual(Object.keys(BOARD.properties).sort());
  });

  it('describes how a window closes in one place, for each form that can', () => {
    const [, ...forms] = BOARD.properties.windows.items.anyOf;
    for (const { properties } of forms)
      expect(properties).toMatchObject({ close: { $ref: '#/$defs/close' } });
  });

  it('accepts its own examples', () => {
    for (const [, schema] of fieldsOf(boardsFileSchema()))
      for (const example of schema.examples ?? []) {
        const validate = new Ajv({ allowUnionTypes: true })
          .addVocabulary(['errorMessage'])
          .compile({ $defs: boardsFileSchema().$defs, ...schema });
        expect([example, validate(example)]).toEqual([example, true]);
      }
  });
});

interface Schema {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Every property of the schema, at any depth, with its name. */
function* fieldsOf(schema: unknown): Generator<[string, Schema]> {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties = {} } = schema as Schema;
  yield* Object.entries(properties);
  for (const part of Object.values(schema)) yield* fieldsOf(part);
}
