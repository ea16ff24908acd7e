import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import { BoardsFileError } from './board-errors.js';
import { placeOf, schemaProblems, type Problem } from './boards-file-problem.js';
import { readYaml } from './boards-file-yaml.js';
import type { BoardDefinition } from './definition.js';
import { readBoard, type BoardText } from './read-board.js';

interface BoardsFileSchema {
  /** Parts that the schema refers to in several places. */
  readonly $defs: object;
  readonly properties: {
    boards: { additionalProperties: { properties: Record<string, { default?: unknown }> } };
  };
}

/**
 * JSON Schema (draft 7) of a boards file, for the parser and for editors. Read on use, so that
 * services can bundle this library.
 */
export function boardsFileSchema(): BoardsFileSchema {
  return createRequire(import.meta.url)('#boards-schema') as BoardsFileSchema;
}

let compiled: ValidateFunction | undefined;

/** Compiled on first use: many processes never parse boards. */
function validator(): ValidateFunction {
  compiled ??= compileSchema();
  return compiled;
}

function compileSchema(): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    useDefaults: true,
    verbose: true,
    // boards-schema.spec.ts validates the schema. To validate it here, and to optimize the code,
    // would take longer than to run it.
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  });
  return ajv.addVocabulary(['errorMessage']).compile(boardsFileSchema());
}

/**
 * The boards of a YAML text with all defaults, in file order (whole numbers first).
 * @throws BoardsFileError with all problems
 */
export function parseBoardsFile(text: string, file: string): BoardDefinition[] {
  const { value, lineOf } = readYaml(text, file);
  const validate = validator();
  const invalid = validate(value) ? [] : schemaProblems(validate.errors ?? []);

  const problems = [...invalid];
  const definitions: BoardDefinition[] = [];
  for (const [board, fields] of boardsOf(value)) {
    const valid = validParts(fields, board, invalid);
    if (valid === undefined) continue;

    const definition = readBoard(board, valid, (path, reason) => {
      problems.push({ path: ['boards', board, ...path], reason });
    });
    definitions.push(definition);
  }
  if (problems.length === 0) return definitions;

  const placed = problems.map(({ path, key, reason }) => {
    const line = lineOf(key === undefined ? path : [...path, key]);
    return { file, line, ...placeOf(path), reason };
  });
  placed.sort((one, other) => one.line - other.line);
  throw new BoardsFileError(placed);
}

/** The boards of a content that can have any form. */
function boardsOf(content: unknown): [string, unknown][] {
  const boards = (content as { boards?: unknown } | null)?.boards ?? {};
  return typeof boards === 'object' && !Array.isArray(boards) ? Object.entries(boards) : [];
}

/**
 * A board without the parts that the schema refused, so that all other parts are checked too.
 * Refused columns and windows become undefined; other refused fields get their default. undefined
 * if the value is not an object.
 */
function validParts(fields: unknown, board: string, invalid: readonly Problem[]) {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;

  const valid: Record<string, unknown> = { columns: [], ...fields };
  for (const { path, key } of invalid) {
    const [, name, field, index] = path;
    if (name !== board || field === undefined || key !== undefined) continue;
    valid[field] = withoutPart(field, valid[field], index);
    // `publish` names windows and dimensions: if some of these were refused, the names can't be
    // checked.
    if (field === 'windows' || field === 'dimensions')
      valid['publish'] = { ...(valid['publish'] as object), [field]: undefined };
  }
  // The schema has checked all parts that are left.
  return valid as unknown as BoardText;
}

function withoutPart(field: string | number, value: unknown, index?: string | number): unknown {
  const isList = (field === 'columns' || field === 'windows') && Array.isArray(value);
  if (isList && typeof index === 'number')
    return value.map((entry: unknown, place) => (place === index ? undefined : entry));
  if (field === 'columns') return [];
  return boardsFileSchema().properties.boards.additionalProperties.properties[field]?.default;
}
