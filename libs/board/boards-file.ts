import { Ajv, type ErrorObject } from 'ajv';
import ms from 'ms';
import { LineCounter, parseDocument, type YAMLError } from 'yaml';
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
      windows: Window[];
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
 * The boards of a YAML text, in its order, defaults filled in.
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
  return Object.entries(content.boards).map(([board, { maxAhead, ...rest }]) => ({
    board,
    ...rest,
    maxAheadMs: ms(maxAhead),
  }));
}

function parseYaml(text: string, fileName: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: true });
  const place = (error: YAMLError) => lineCounter.linePos(error.pos[0]).line;
  if (document.errors.length > 0)
    throw new BoardsFileError(
      document.errors.map((error) => `${fileName}:${place(error)}: ${yamlProblem(error, text)}`),
    );
  return document.toJS();
}

function yamlProblem(error: YAMLError, text: string): string {
  if (error.code !== 'DUPLICATE_KEY') return `not valid YAML: ${error.message}`;
  const key = /^[^\s:]*/.exec(text.slice(error.pos[0]))?.[0] ?? '';
  return `"${key}" is defined twice; every name may occur once`;
}

/** `anyOf`-like follow-up errors of ajv say nothing that the first one has not said. */
function schemaProblems(errors: readonly ErrorObject[], fileName: string): string[] {
  return errors
    .filter(({ keyword }) => keyword !== 'propertyNames')
    .map((error) => describeProblem(error, fileName));
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
