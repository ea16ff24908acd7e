import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type YAMLError,
} from 'yaml';
import { BoardsFileError } from './board-errors.js';
import type { Path } from './boards-file-problem.js';

/**
 * Reads a YAML document. Numbers that JavaScript writes differently become texts. `lineOf` returns
 * the line of a value or of its key; for a path that does not exist, the line of the nearest
 * parent.
 * @throws BoardsFileError
 */
export function readYaml(text: string, file: string) {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    stringKeys: true, // keys are names, so `1` and `"1"` are the same key
  });
  const lineAt = (offset: number) => Math.max(1, lineCounter.linePos(offset).line);
  const problemAt = (offset: number, reason: string) => {
    return { file, line: lineAt(offset), board: null, field: null, reason };
  };

  const problems = document.errors.map((error) =>
    problemAt(error.pos[0], yamlProblem(error, text)),
  );
  const { alias, isCircular } = reviewAliases(document);
  const aliasOffset = alias?.range?.[0] ?? 0;
  if (isCircular)
    problems.push(
      problemAt(
        aliasOffset,
        'an alias is part of the value that it names; write the value instead',
      ),
    );
  if (problems.length > 0) throw new BoardsFileError(problems.sort((a, b) => a.line - b.line));

  keepExactNumbers(document);
  try {
    const lineOf = (path: Path) => lineAt(offsetOf(document, path));
    return { value: document.toJS() as unknown, lineOf };
  } catch (error) {
    // yaml resolves aliases in toJS: it throws for an unknown anchor, for too many aliases, and for
    // values that are nested too deeply.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    throw new BoardsFileError([problemAt(aliasOffset, `not valid YAML: ${error.message}`)]);
  }
}

/**
 * Finds the first alias that has no anchor before it, or that is part of the value that it names
 * (`isCircular`). Without such an alias, returns the last one.
 */
function reviewAliases(document: Document): { alias: Alias | undefined; isCircular: boolean } {
  let alias: Alias | undefined;
  let isCircular = false;
  visit(document, {
    Alias(_key, node, path) {
      alias = node;
      const named = node.resolve(document);
      isCircular = named !== undefined && path.includes(named);
      return isCircular || named === undefined ? visit.BREAK : undefined;
    },
  });
  return { alias, isCircular };
}

/**
 * Replaces a number by its text unless its double has the same text: keeps 0.1, but not 1e3 or
 * 0.30000000000000001.
 */
function keepExactNumbers(document: Document): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'number') return;
      if (node.source !== undefined && node.source !== String(node.value)) node.value = node.source;
    },
  });
}

function offsetOf(document: Document, path: Path): number {
  let offset = 0;
  let value: unknown = document.contents;
  for (const part of path) {
    const holder = isAlias(value) ? value.resolve(document) : value;
    const found = partOf(holder, part);
    if (found === undefined) break;
    if (isNode(found.start)) offset = found.start.range?.[0] ?? offset;
    value = found.value;
  }
  return offset;
}

/** An item of a list or a value of an object, and the node where it begins. */
function partOf(holder: unknown, part: string | number) {
  if (isSeq(holder)) {
    const item = holder.items[Number(part)];
    return item === undefined ? undefined : { start: item, value: item };
  }
  if (!isMap(holder)) return undefined;
  const pair = holder.items.find(({ key }) => isScalar(key) && key.value === String(part));
  return pair && { start: pair.key, value: pair.value };
}

function duplicateProblem(text: string, offset: number): string {
  const [key] = /^"[^"]*"|^'[^']*'|^[^\s:]*/.exec(text.slice(offset)) ?? [''];
  return `duplicate key ${/^["']/.test(key) ? key : `"${key}"`}; rename or remove one of the two`;
}

function yamlProblem({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'MULTIPLE_DOCS')
    return 'a second YAML document starts here; use one document per file';
  if (code === 'DUPLICATE_KEY') return duplicateProblem(text, pos[0]);
  if (code === 'NON_STRING_KEY') return 'not valid YAML: a key must be a text, not a list or a map';
  return `not valid YAML: ${message}`;
}
