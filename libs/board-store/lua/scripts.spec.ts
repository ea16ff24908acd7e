import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { scriptText } from './script-text.js';
import { commandName, refusalOf, ReturnCode, SCRIPTS } from './scripts.js';

const LUA = import.meta.url;
const files = (folder: string) => readdirSync(new URL(folder, LUA)).sort();
const source = (path: string) => readFileSync(new URL(path, LUA), 'utf8');
const commands = files('commands/');
const all = [...commands.map((name) => `commands/${name}`), ...files('includes/').map((name) => `includes/${name}`)]; // prettier-ignore

/** The sections of a header by their names, each in one line. */
function sectionsOf(path: string): Record<string, string> {
  const [header = ''] = /^(--.*\n)+/.exec(source(path)) ?? [];
  const lines = header.replace(/^-- ?/gm, '').split('\n');
  const sections: Record<string, string> = {};
  let name = '';
  for (const line of lines) {
    const begin = /^(KEYS|ARGV|Returns|Cost) {2}(.*)$/.exec(line);
    if (begin) [, name = ''] = begin;
    else if (!line.startsWith('  ')) name = '';
    if (name) sections[name] = `${sections[name] ?? ''} ${begin?.[2] ?? line}`.replace(/\s+/g, ' ');
  }
  return sections;
}

/** The largest number that begins an item of a list, such as `2 live, 3 to 5 as in x.lua`, before the part of variable length. */
function lastItem(list: string): number {
  const fixed = list.replace(/\([^)]*\)/g, '').replace(/[,;]? then .*/, '');
  const items = [...fixed.matchAll(/(?:^|[,;:]) ?(\d+)(?: (?:to|and) (\d+))? /g)];
  return Math.max(0, ...items.map(([, first, last]) => Number(last ?? first)));
}

const highest = (text: string, name: 'KEYS' | 'ARGV') =>
  Math.max(0, ...[...text.matchAll(new RegExp(`${name}\\[(\\d+)\\]`, 'g'))].map(([, n]) => Number(n))); // prettier-ignore

/** The code of a script with its includes, without comments. */
const body = (name: string) => scriptText(name.replace('.lua', '')).replace(/--.*$/gm, '');

describe('the scripts', () => {
  it.each(commands)('%s has as many keys and arguments as its name and header say', (name) => {
    const { KEYS = '', ARGV = '', ...others } = sectionsOf(`commands/${name}`);
    expect(Object.keys(others)).toEqual(['Returns', 'Cost']);
    expect(lastItem(KEYS)).toBe(Number(/-(\d+)\.lua$/.exec(name)?.[1]));
    expect(highest(body(name), 'KEYS')).toBe(lastItem(KEYS));
    expect(highest(body(name), 'ARGV')).toBe(lastItem(ARGV));
  });

  it.each(commands)('%s returns the codes that its header lists', (name) => {
    const codes = (text: string) => [...new Set(text.match(/\b[A-Z]+_[A-Z]+\b|\b(GAP|RECOVERING)\b/g))]; // prettier-ignore
    const returns = (body(name).match(/return (nil, )?[A-Z_]+\b/g) ?? []).join();
    const documented = codes(sectionsOf(`commands/${name}`)['Returns'] ?? '');
    expect(documented.filter((code) => code !== 'TOO_MANY_VIEWS').sort()).toEqual(
      codes(returns).sort(),
    );
  });

  it('are listed, and each is called', () => {
    expect(SCRIPTS.map((name) => `${name}.lua`).sort()).toEqual(commands);
    const folder = new URL('..', import.meta.url);
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const typescript = names.filter((name) => /(?<!spec)\.ts$/.test(name));
    const calls = typescript.map((name) => readFileSync(new URL(name, folder), 'utf8')).join();
    const isCalled = (name: string) =>
      new RegExp(`redis\\.${commandName(name)}(Buffer)?\\(`).test(calls);
    expect(SCRIPTS.filter((name) => !isCalled(name))).toEqual([]);
  });

  it('include each file of lua/includes', () => {
    const included = all.flatMap((path) => [...source(path).matchAll(/^-- include (\S+)$/gm)]);
    expect([...new Set(included.map(([, name]) => name))].sort()).toEqual(files('includes/'));
  });

  it('read states of as many columns as a board can have', () => {
    const [, most] = /^local MAX_COLUMNS = (\d+)/m.exec(source('includes/state.lua')) ?? [];
    const columns = /"columns": \{[^{]*?"maxItems": (\d+)/.exec(source('../../../schemas/boards.schema.json')); // prettier-ignore
    expect(most).toBe(columns?.[1]);
  });

  it('have at most 100 lines a file', () => {
    expect(all.filter((path) => source(path).split('\n').length > 101)).toEqual([]);
  });
});

describe('the return codes', () => {
  it('are the same in Lua and in TypeScript', () => {
    const found = [...source('includes/return-codes.lua').matchAll(/^local (\w+) = (-\d+)/gm)];
    const camelCase = (name: string) =>
      name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const codes = found.map(([, name = '', code]) => [camelCase(name), Number(code)]);
    expect(codes).toEqual(Object.entries(ReturnCode).filter(([, code]) => typeof code === 'number')); // prettier-ignore
  });

  it('are defined in one file', () => {
    const isCode = /return (nil, )?-\d|^local [A-Z_]+ = -\d{1,3}\b/m;
    expect(all.filter((path) => isCode.test(source(path)))).toEqual(['includes/return-codes.lua']);
  });

  it('become refusals; an unknown one is an error', () => {
    expect(refusalOf(-12)).toBe('gap');
    expect([1, 0, 'text', ['-1']].map(refusalOf)).toEqual([undefined, undefined, undefined, undefined]); // prettier-ignore
    expect(() => refusalOf(-99)).toThrow('a script returned -99, an unknown code');
  });
});
