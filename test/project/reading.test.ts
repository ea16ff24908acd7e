import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const FILE = 'libs/board-store/read/board-reader.ts';
/** The options of `ViewSelection`, which the page explains in a section of its own. */
const VIEW = ['view', 'window', 'where', 'at'];

const page = readFileSync('docs/reading.md', 'utf8');
const section = page.split(/^#+ /m).find((text) => text.startsWith('All arguments')) ?? '';
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const namesIn = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
const isCall = ([, first = '']: string[]) => first.includes('(');

const { config } = ts.readConfigFile('tsconfig.json', (file) => readFileSync(file, 'utf8')) as {
  config: object;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
const program = ts.createProgram([FILE], options);
const checker = program.getTypeChecker();

/** The public methods of BoardReader, and properties that are functions. */
function methods(): ts.Symbol[] {
  const file = program.getSourceFile(FILE);
  const module = file && checker.getSymbolAtLocation(file);
  const exported = module === undefined ? [] : checker.getExportsOfModule(module);
  const reader = exported.find(({ name }) => name === 'BoardReader');
  if (reader === undefined) throw new Error(`${FILE} exports no BoardReader`);
  const members = checker.getDeclaredTypeOfSymbol(reader).getProperties();
  return members.filter(({ name }) => !name.includes('#'));
}

/** The options of an argument: the fields of an interface, or of each element of a list. */
function optionsOf(parameter: ts.Symbol): string[] {
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
  const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number) ?? type;
  const isObject = (element.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
  const isOptions = isObject && /Request|Selection/.test(checker.typeToString(element));
  return isOptions ? element.getProperties().map(({ name }) => name) : [];
}

/** A method as a row of the table has it. */
function rowOf(method: ts.Symbol) {
  const [signature] = checker.getTypeOfSymbol(method).getCallSignatures();
  const parameters = signature?.getParameters() ?? [];
  const found = parameters.flatMap(optionsOf);
  const words = parameters.map((parameter) => {
    const declaration = parameter.valueDeclaration as ts.ParameterDeclaration;
    const isOptional = declaration.questionToken ?? declaration.initializer;
    const isOptions = isOptional && optionsOf(parameter).length > 0;
    return (isOptions ? 'options' : parameter.name) + (isOptional ? '?' : '');
  });
  return {
    call: `${method.name}(${words.join(', ')})`,
    view: found.includes('window') ? 'yes' : 'no',
    options: found.filter((name) => !VIEW.includes(name)).sort(),
  };
}

const actual = methods().map(rowOf);

it('the table of calls has all methods of BoardReader, with all arguments and options', () => {
  const documented = rows.filter(isCall).map(([, call, view, cell]) => ({
    call: call?.replaceAll('`', ''),
    view,
    options: namesIn(cell).sort(),
  }));
  const byCall = (a: { call?: string | undefined }, b: { call?: string | undefined }) =>
    String(a.call).localeCompare(String(b.call));
  expect(documented.sort(byCall)).toEqual(actual.sort(byCall));
});

it('the table of arguments explains each of them', () => {
  const words = actual.flatMap(({ call, options: names }) => [
    ...(/\((.*)\)/.exec(call)?.[1] ?? '').split(', ').map((word) => word.replace('?', '')),
    ...names,
  ]);
  const known = ['', 'board', 'playerId', 'options'];
  const expected = [...new Set(words)].filter((name) => !known.includes(name));
  const documented = rows.filter((row) => !isCall(row)).flatMap(([, name]) => namesIn(name));
  expect(documented.sort()).toEqual(expected.sort());
});
