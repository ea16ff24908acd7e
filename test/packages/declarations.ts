import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { PROJECT } from '../support/project.js';
import { output } from './empty-project.js';

/**
 * The code and the types of an entry of a package, such as `client/dist/index`, after its build.
 */
export class BuiltEntry {
  readonly #file: string;

  constructor(entry: string) {
    this.#file = path.join(PROJECT, 'packages', entry);
  }

  /** The names that `require` returns, sorted. */
  async required(): Promise<string[]> {
    const program = 'console.log(JSON.stringify(Object.keys(require(process.argv[1])).sort()))';
    const printed = await output(process.execPath, ['-e', program, `${this.#file}.cjs`]);
    return JSON.parse(printed) as string[];
  }

  /** The constants, functions, classes and enumerations that the types declare, sorted. */
  declared(): { exported: string[]; internal: string[] } {
    const found = { exported: [] as string[], internal: [] as string[] };
    const text = readFileSync(`${this.#file}.d.cts`, 'utf8');
    const types = ts.createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest, true);
    for (const statement of types.statements) {
      const list = isExported(statement) ? found.exported : found.internal;
      list.push(...valuesOf(statement));
    }
    return { exported: found.exported.sort(), internal: found.internal };
  }
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : [];
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function valuesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const isValue =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return isValue && statement.name !== undefined ? [statement.name.text] : [];
}

/** The classes of errors that documents for users name, without those of JavaScript. */
export function errorsInDocuments(): string[] {
  const packages = readdirSync(path.join(PROJECT, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `packages/${name}`);
  const texts = ['docs', 'docs/reference', ...packages].flatMap(pagesIn);
  const names = texts.flatMap((text) => text.match(/\b[A-Z][A-Za-z]+Error\b/g) ?? []);
  return [...new Set(names)].filter((name) => !Object.hasOwn(globalThis, name));
}

function pagesIn(folder: string): string[] {
  const files = readdirSync(path.join(PROJECT, folder)).filter((name) => name.endsWith('.md'));
  return files.map((name) => readFileSync(path.join(PROJECT, folder, name), 'utf8'));
}
