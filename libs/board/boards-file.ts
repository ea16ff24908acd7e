import { Ajv, type ErrorObject } from 'ajv';
import ms from 'ms';
import { isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { describeProblem } from './boards-file-problem.js';
import type { BoardDefinition, Column, Ties, Window } from './definition.js';
import { BOARDS_FILE_SCHEMA } from './definition-schema.js';

/** A boards file that can't be used. `problems` names each: file, board, field, the bad value and what is allowed. */
export class BoardsFileError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'BoardsFileError';
  }
}

/** The shape that the schema guarantees, defaults filled in. */
interface BoardsFile {
  boards: Record<
    string,
    {
      columns: Column[];
      ties: Ties;
      windows: Window['kind'][];
      dimensions: string[][];
      maxAhead: ms.StringValue;
    }
  >;
}

const validate = new Ajv({
  allErrors: true,
  useDefaults: true,
  verbose: true,
}).compile<BoardsFile>(BOARDS_FILE_SCHEMA);

/**
 * The boards of a YAML text, defaults filled in, in its order (names that are whole numbers come first).
 * @throws BoardsFileError with all problems at once.
 */
export function parseBoardsFile(text: string, fileName: string): BoardDefinition[] {
  const content = parseYaml(text, fileName);
  if (!validate(content))
    throw new BoardsFileError(schemaProblems(validate.errors ?? [], fileName));
  const problems = Object.entries(content.boards).flatMap(([board, { columns }]) =>
    duplicates(columns.map(({ name }) => name)).map(
      (name) =>
        `${fileName}: board "${board}", columns: "${name}" is there twice; a column's name is unique`,
    ),
  );
  if (problems.length > 0) throw new BoardsFileError(problems);
  return Object.entries(content.boards).map(
    ([board, { columns, ties, windows, dimensions, maxAhead }]) => ({
      board,
      columns,
      ties,
      timeZone: 'UTC',
      windows: windows.map((kind) => ({ kind }) as Window),
      late: 'deadLetter',
      dimensions,
      maxViews: 10_000,
      maxAheadMs: ms(maxAhead),
      publish: { rankChanges: 'every', overtook: 0, leaders: 0 },
    }),
  );
}

function parseYaml(text: string, fileName: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: (a, b) => keyText(a) === keyText(b),
  });
  const place = (error: YAMLError) => lineCounter.linePos(error.pos[0]).line;
  if (document.errors.length > 0)
    throw new BoardsFileError(
      document.errors.map((error) => `${fileName}:${place(error)}: ${yamlProblem(error, text)}`),
    );
  try {
    return document.toJS();
  } catch (error) {
    // What only shows when aliases are followed: one without its anchor, or far too many.
    if (!(error instanceof ReferenceError)) throw error;
    throw new BoardsFileError([`${fileName}: not valid YAML: ${error.message}`]);
  }
}

/** Keys as the board's names: `1` and `"1"` are one. */
function keyText(key: unknown): unknown {
  return isScalar(key) ? String(key.value) : key;
}

function yamlProblem(error: YAMLError, text: string): string {
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return `${firstKey(text.slice(error.pos[0]))} is defined twice; every name may occur once`;
    case 'MULTIPLE_DOCS':
      return 'a second YAML document begins here; a boards file is one document';
    default:
      return `not valid YAML: ${error.message}`;
  }
}

/** The key that a text begins with, quoted. */
function firstKey(text: string): string {
  const [quoted, plain] = /^"[^"]*"|^'[^']*'|^([^\s:]*)/.exec(text) ?? [''];
  return plain === undefined ? quoted : `"${plain}"`;
}

/** ajv reports a bad name twice, the second time as `propertyNames`, without the reason. */
function schemaProblems(errors: readonly ErrorObject[], fileName: string): string[] {
  return errors
    .filter(({ keyword }) => keyword !== 'propertyNames')
    .map((error) => describeProblem(error, fileName));
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
