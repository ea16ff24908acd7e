import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Scalar,
  type YAMLError,
  type YAMLMap,
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
    uniqueKeys: false, // would compare each key with all others
  });
  const lineAt = (offset: number) => Math.max(1, lineCounter.linePos(offset).line);
  const problemAt = (offset: number, reason: string) => {
    return { file, line: lineAt(offset), board: null, field: null, reason };
  };
  if (document.errors.length > 0)
    throw new BoardsFileError(
      document.errors.map((error) => problemAt(error.pos[0], yamlProblem(error))),
    );
  const { duplicates, alias, isCircular } = reviewNodes(document);
  const problems = duplicates.map((offset) => problemAt(offset, duplicateProblem(text, offset)));
  if (isCircular)
    problems.push(
      problemAt(alias, 'an alias is part of the value that it names; write the value instead'),
    );
  if (problems.length > 0) throw new BoardsFileError(problems.sort((a, b) => a.line - b.line));
  keepExactNumbers(document);
  try {
    const lineOf = (path: Path) => lineAt(offsetOf(document, path));
    return { value: document.toJS() as unknown, lineOf };
  } catch (error) {
    // yaml resolves aliases in toJS: it throws for an unknown anchor, for too many aliases, and for
    // keys that are nested too deeply.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    throw new BoardsFileError([problemAt(alias, `not valid YAML: ${error.message}`)]);
  }
}

/**
 * Finds the keys that occur twice in a map; and the first alias that has no anchor before it or is
 * part of the value that it names (`isCircular`), or else the last alias. Offsets in the text.
 */
function reviewNodes(document: Document) {
  const duplicates: number[] = [];
  const anchors = new Set<string | undefined>();
  let alias = 0;
  let isCircular = false;
  let isBad = false;
  visit(document, (_key, node, path) => {
    if (isMap(node)) duplicates.push(...repeatedKeys(node));
    if (!isAlias(node)) {
      if (isNode(node)) anchors.add((node as Scalar).anchor);
    } else if (!isBad) {
      isCircular = path.some((holder) => (holder as Scalar).anchor === node.source);
      isBad = isCircular || !anchors.has(node.source);
      alias = node.range?.[0] ?? alias;
    }
  });
  return { duplicates, alias, isCircular };
}

/** The offsets of keys that occurred before in the map. */
function repeatedKeys({ items }: YAMLMap): number[] {
  const known = new Set<unknown>();
  const offsets: number[] = [];
  for (const { key } of items) {
    const text = keyText(key);
    if (known.has(text) && isNode(key)) offsets.push(key.range?.[0] ?? 0);
    known.add(text);
  }
  return offsets;
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
  const pair = holder.items.find(({ key }) => keyText(key) === String(part));
  return pair && { start: pair.key, value: pair.value };
}

/** Keys are names of boards and fields, so `1` and `"1"` are the same key. */
function keyText(key: unknown): unknown {
  return isScalar(key) ? String(key.value) : key;
}

function duplicateProblem(text: string, offset: number): string {
  const [key] = /^"[^"]*"|^'[^']*'|^[^\s:]*/.exec(text.slice(offset)) ?? [''];
  return `duplicate key ${/^["']/.test(key) ? key : `"${key}"`}; rename or remove one of the two`;
}

function yamlProblem({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS'
    ? 'a second YAML document starts here; use one document per file'
    : `not valid YAML: ${message}`;
}
