import { Ajv, type ValidateFunction } from 'ajv';
import {
  placeOf,
  problemText,
  schemaProblems,
  type BoardsFileProblem,
  type Problem,
} from './boards-file-problem.js';
import { readYaml, YamlProblems, type YamlContent } from './boards-file-yaml.js';
import type { BoardDefinition } from './definition.js';
import { BOARDS_FILE_SCHEMA } from './definition-schema.js';
import { readBoard } from './read-board.js';
import { soundParts } from './sound-parts.js';

/** A boards file that can't be used. */
export class BoardsFileError extends Error {
  constructor(readonly problems: readonly BoardsFileProblem[]) {
    super(problems.map(problemText).join('\n'));
    this.name = 'BoardsFileError';
  }
}

let compiled: ValidateFunction | undefined;

/** Compiled when a file is first read: most processes never read one. */
function validator(): ValidateFunction {
  return (compiled ??= new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    useDefaults: true,
    verbose: true,
    validateSchema: false, // its spec does that; here it would take longer than all else
  })
    .addVocabulary(['errorMessage'])
    .compile(BOARDS_FILE_SCHEMA));
}

/**
 * The boards of a YAML text, defaults filled in, in its order (names that are whole numbers come first).
 * @throws BoardsFileError with all problems at once.
 */
export function parseBoardsFile(text: string, file: string): BoardDefinition[] {
  const content = readContent(text, file);
  const { value } = content;
  const validate = validator();
  const refused = validate(value) ? [] : schemaProblems(validate.errors ?? []);
  const problems = [...refused];
  const definitions = boardsOf(value).flatMap(([board, fields]) => {
    const sound = soundParts(fields, board, refused);
    const definition =
      sound &&
      readBoard(board, sound, (path, reason) => {
        problems.push({ path: ['boards', board, ...path], reason });
      });
    return definition ?? [];
  });
  if (problems.length > 0) throw new BoardsFileError(inOrder(problems, content, file));
  return definitions;
}

function readContent(text: string, file: string): YamlContent {
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof YamlProblems)) throw error;
    throw new BoardsFileError(
      error.problems.map((problem) => ({ file, board: null, field: null, ...problem })),
    );
  }
}

/** Boards of a content that may have problems anywhere. */
function boardsOf(content: unknown): [string, unknown][] {
  const boards = (content as { boards?: unknown } | null)?.boards ?? {};
  return typeof boards === 'object' && !Array.isArray(boards) ? Object.entries(boards) : [];
}

function inOrder(
  problems: readonly Problem[],
  { lineOf }: YamlContent,
  file: string,
): BoardsFileProblem[] {
  return problems
    .map(({ path, key, reason }) => ({
      file,
      line: lineOf(key === undefined ? path : [...path, key]),
      ...placeOf(path),
      reason,
    }))
    .sort((a, b) => a.line - b.line);
}
