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
  type YAMLError,
} from 'yaml';
import type { Path } from './boards-file-problem.js';

/** What is wrong with a YAML text as such. */
export interface YamlProblem {
  readonly line: number;
  readonly reason: string;
}

/** A YAML text that can't be read at all. */
export class YamlProblems extends Error {
  constructor(readonly problems: readonly YamlProblem[]) {
    super(problems.map(({ line, reason }) => `line ${line}: ${reason}`).join('\n'));
    this.name = 'YamlProblems';
  }
}

/** What a YAML text says, and where. */
export interface YamlContent {
  readonly value: unknown;
  /** The line where a value, or the field with it, begins; that of what holds it, when it is not there itself. */
  readonly lineOf: (path: Path) => number;
}

/** Reads a YAML document. A number that a float could change is kept as the text that was written. @throws YamlProblems */
export function readYaml(text: string): YamlContent {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: (a, b) => keyText(a) === keyText(b),
  });
  const lineAt = (offset: number) => Math.max(1, lineCounter.linePos(offset).line);
  if (document.errors.length > 0)
    throw new YamlProblems(
      document.errors.map((error) => ({
        line: lineAt(error.pos[0]),
        reason: yamlProblem(error, text),
      })),
    );
  keepExactNumbers(document);
  try {
    return { value: document.toJS(), lineOf: (path) => lineAt(offsetOf(document, path)) };
  } catch (error) {
    // What only shows when aliases are followed: one without its anchor, or far too many.
    if (!(error instanceof ReferenceError)) throw error;
    const reason = `not valid YAML: ${error.message}`;
    throw new YamlProblems([{ line: lineAt(worstAlias(document)), reason }]);
  }
}

/** Numbers stay numbers only where their text and the float's are the same: 0.1 is one, 1e3 and 0.30000000000000001 are texts. */
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
    offset = isNode(found.at) ? (found.at.range?.[0] ?? offset) : offset;
    ({ value } = found);
  }
  return offset;
}

/** A part of a list or an object, and where it begins. */
function partOf(
  holder: unknown,
  part: string | number,
): { at: unknown; value: unknown } | undefined {
  if (isSeq(holder)) {
    const item = holder.items[Number(part)];
    return item === undefined ? undefined : { at: item, value: item };
  }
  const pair = isMap(holder)
    ? holder.items.find(({ key }) => keyText(key) === String(part))
    : undefined;
  return pair && { at: pair.key, value: pair.value };
}

/** Where the first alias without an anchor stands; else the last one, at which there were too many. */
function worstAlias(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias(_key, alias) {
      offset = alias.range?.[0] ?? offset;
      return alias.resolve(document) === undefined ? visit.BREAK : undefined;
    },
  });
  return offset;
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
