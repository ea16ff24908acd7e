import {
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type YAMLError,
} from 'yaml';
import type { Problem } from './boards-file-problem.js';

/** A YAML text that can't be read at all. `problems` names each with its line. */
export class YamlError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** What a YAML text says, and where. */
export interface YamlContent {
  readonly value: unknown;
  /** The line of a value; of what holds it, when it is not there itself. */
  readonly lineOf: (path: Problem['path']) => number;
}

/** Reads a YAML document. A number that a float could change is kept as the text that was written. @throws YamlError */
export function readYaml(text: string, fileName: string): YamlContent {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: (a, b) => keyText(a) === keyText(b),
  });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  if (document.errors.length > 0)
    throw new YamlError(
      document.errors.map(
        (error) => `${fileName}:${lineAt(error.pos[0])}: ${yamlProblem(error, text)}`,
      ),
    );
  keepExactNumbers(document);
  try {
    return { value: document.toJS(), lineOf: (path) => lineAt(offsetOf(document, path)) };
  } catch (error) {
    // What only shows when aliases are followed: one without its anchor, or far too many.
    if (!(error instanceof ReferenceError)) throw error;
    throw new YamlError([`${fileName}: not valid YAML: ${error.message}`]);
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

function offsetOf(document: Document, path: Problem['path']): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
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
