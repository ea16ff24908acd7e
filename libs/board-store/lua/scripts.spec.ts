import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readScript } from './script-text.js';
import { commandName, refusalOf, ReturnCode, SCRIPTS } from './scripts.js';

const LUA = import.meta.url;
const files = (folder: string) => readdirSync(new URL(folder, LUA)).sort();
const source = (path: string) => readFileSync(new URL(path, LUA), 'utf8');
const commands = files('commands/');
const all = [
  ...commands.map((name) => `commands/${name}`),
  ...files('includes/').map((name) => `includes/${name}`),
];

/** The code of a script with its includes, without its header and comments. */
function codeOf(name: string): string {
  const [, ...lines] = readScript(name.replace('.lua', '')).text.split('\n');
  return lines.join('\n').replace(/--.*$/gm, '');
}

/** Code without the parameters of its functions. */
function withoutParameters(code: string): string {
  return code.replace(/^local function \w+\((.+)\)\n[^]*?^end$/gm, (text, names: string) =>
    text.replace(new RegExp(`\\b(${names.replaceAll(', ', '|')})\\b`, 'g'), ''),
  );
}

/** The locals that the loader makes of the names in a header. */
function localsOf(name: string): string[] {
  const [first = ''] = readScript(name.replace('.lua', '')).text.split('\n');
  return [...first.matchAll(/local (.*?) =/g)].flatMap(([, names = '']) => names.split(', '));
}

/** A section of a header as one line. */
function sectionOf(name: string, section: 'Returns' | 'Cost'): string {
  const pattern = new RegExp(`^-- ${section} {2}(.*\\n(?:--  .*\\n)*)`, 'm');
  const [, text = ''] = pattern.exec(source(`commands/${name}`)) ?? [];
  return text.replace(/\n-- */g, ' ').trim();
}

describe('the scripts', () => {
  it.each(commands)('%s has as many keys as its name says, and a whole header', (name) => {
    const { keys } = readScript(name.replace('.lua', ''));
    const fixed = keys.filter((key) => !key.endsWith('...'));
    expect(fixed).toHaveLength(Number(/-(\d+)\.lua$/.exec(name)?.[1]));
    expect(sectionOf(name, 'Returns')).not.toBe('');
    expect(sectionOf(name, 'Cost')).not.toBe('');
  });

  it.each(commands)('%s uses each name of its header, for nothing else', (name) => {
    const code = codeOf(name);
    const declared = [...code.matchAll(/^local (?:function )?([\w, ]+)/gm)];
    const others = declared.flatMap(([, names = '']) => names.trim().split(', '));
    const uses = withoutParameters(code);
    const isUsed = (local: string) => new RegExp(`(?<![.'\\w])${local}\\b`).test(uses);
    expect(localsOf(name).filter((local) => !isUsed(local))).toEqual([]);
    expect(localsOf(name).filter((local) => others.includes(local))).toEqual([]);
  });

  it('name each key and argument of a fixed position', () => {
    expect(all.filter((path) => /\b(KEYS|ARGV)\[\d+\]/.test(source(path)))).toEqual([]);
  });

  it.each(commands)('%s has its lines where they are in its file, for errors of Redis', (name) => {
    const lines = readScript(name.replace('.lua', '')).text.split('\n');
    const [own = ''] = source(`commands/${name}`).split(/^-- include /m, 1);
    const [first = '', ...others] = own.split('\n').slice(0, -1);
    expect(lines[0]?.endsWith(`; ${first}`)).toBe(true);
    expect(lines.slice(1, 1 + others.length)).toEqual(others);
  });

  it.each(commands)('%s returns the codes that its header lists', (name) => {
    const codes = (text: string) => [
      ...new Set(text.match(/\b[A-Z]+_[A-Z]+\b|\b(GAP|RECOVERING)\b/g)),
    ];
    const returns = (codeOf(name).match(/return (nil, )?[A-Z_]+\b/g) ?? []).join();
    const documented = codes(sectionOf(name, 'Returns'));
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
    const columns = /"columns": \{[^{]*?"maxItems": (\d+)/.exec(
      source('../../../schemas/boards.schema.json'),
    );
    expect(most).toBe(columns?.[1]);
  });

  it('have at most 100 lines of code a file', () => {
    const lines = (path: string) =>
      source(path)
        .split('\n')
        .map((line) => line.trim());
    const isCode = (line: string) => line !== '' && !line.startsWith('--');
    expect(all.filter((path) => lines(path).filter(isCode).length > 100)).toEqual([]);
  });
});

describe('the return codes', () => {
  it('are the same in Lua and in TypeScript', () => {
    const found = [...source('includes/return-codes.lua').matchAll(/^local (\w+) = (-\d+)/gm)];
    const camelCase = (name: string) =>
      name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const codes = found.map(([, name = '', code]) => [camelCase(name), Number(code)]);
    expect(codes).toEqual(
      Object.entries(ReturnCode).filter(([, code]) => typeof code === 'number'),
    );
  });

  it('are defined in one file', () => {
    const isCode = /return (nil, )?-\d|^local [A-Z_]+ = -\d{1,3}\b/m;
    expect(all.filter((path) => isCode.test(source(path)))).toEqual(['includes/return-codes.lua']);
  });

  it('become refusals; an unknown one is an error', () => {
    expect(refusalOf(-12)).toBe('gap');
    expect([1, 0, 'text', ['-1']].map(refusalOf)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(() => refusalOf(-99)).toThrow('a script returned -99, an unknown code');
  });
});
