import { Ajv } from 'ajv';
import { describePath, schemaProblems, type Problem } from './boards-file-problem.js';
import { readYaml, YamlError, type YamlContent } from './boards-file-yaml.js';
import type { BoardDefinition } from './definition.js';
import { BOARDS_FILE_SCHEMA } from './definition-schema.js';
import { readBoard, type BoardText } from './read-board.js';

/** A boards file that can't be used. `problems` names each: file, line, board, field, the bad value and what is allowed. */
export class BoardsFileError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'BoardsFileError';
  }
}

/** The shape that the schema guarantees, defaults filled in. */
interface BoardsFile {
  boards: Record<string, BoardText>;
}

const validate = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  useDefaults: true,
  verbose: true,
})
  .addVocabulary(['errorMessage'])
  .compile<BoardsFile>(BOARDS_FILE_SCHEMA);

/**
 * The boards of a YAML text, defaults filled in, in its order (names that are whole numbers come first).
 * @throws BoardsFileError with all problems at once.
 */
export function parseBoardsFile(text: string, fileName: string): BoardDefinition[] {
  const content = readContent(text, fileName);
  const { value } = content;
  const problems = validate(value) ? [] : schemaProblems(validate.errors ?? []);
  const bad = new Set(problems.map(({ path }) => path[1]));
  const definitions = boardsOf(value)
    .filter(([board]) => !bad.has(board))
    .map(([board, fields]) =>
      readBoard(board, fields, (path, reason) => {
        problems.push({ path: ['boards', board, ...path], reason });
      }),
    );
  if (problems.length > 0) throw new BoardsFileError(inWords(problems, content, fileName));
  return definitions;
}

function readContent(text: string, fileName: string): YamlContent {
  try {
    return readYaml(text, fileName);
  } catch (error) {
    if (error instanceof YamlError) throw new BoardsFileError(error.problems);
    throw error;
  }
}

/** Boards of a content that may have problems elsewhere. */
function boardsOf(content: unknown): [string, BoardText][] {
  const boards = (content as BoardsFile | null)?.boards ?? {};
  return typeof boards === 'object' && !Array.isArray(boards) ? Object.entries(boards) : [];
}

function inWords(
  problems: readonly Problem[],
  { lineOf }: YamlContent,
  fileName: string,
): readonly string[] {
  return problems
    .map(({ path, reason }) => ({ line: lineOf(path), path, reason }))
    .sort((a, b) => a.line - b.line)
    .map(({ line, path, reason }) => `${fileName}:${line}: ${describePath(path)}: ${reason}`);
}
