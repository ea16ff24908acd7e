import { readFileSync } from 'node:fs';
import { readHeader, type Header } from './script-header.js';

/** The text of a script of lua/commands for Redis, and the names of its keys and arguments. */
interface ScriptText extends Header {
  readonly text: string;
}

const INCLUDE = /^-- include (\S+)$/gm;

/** Reads a script. Bundles contain the scripts instead of this file: see scripts/bundling.mjs. */
export function readScript(script: string): ScriptText {
  const file = `commands/${script}.lua`;
  const header = readHeader(file, read);
  const locals = localsOf('KEYS', header.keys) + localsOf('ARGV', header.arguments);
  // The locals share the first line with a comment, so that the line numbers in Redis' errors are
  // right.
  return { ...header, text: locals + withIncludes(file, new Set()) };
}

/**
 * Declares a local for each name. For a list such as `views...`, the local `views_from` is the
 * index of the first item. A list behind another list gets no local, because only the script knows
 * where it begins.
 */
function localsOf(table: 'KEYS' | 'ARGV', names: readonly string[]): string {
  const isList = (name = '') => name.endsWith('...');
  const known = names.filter((name, index) => !isList(name) || !isList(names[index - 1]));
  if (known.length === 0) return '';

  const locals = known.map((name) => name.replace('...', '_from'));
  const values = known.map((name, index) => {
    const position = index + 1; // Lua counts from 1
    return isList(name) ? position : `${table}[${position}]`;
  });
  return `local ${locals.join(', ')} = ${values.join(', ')}; `;
}

/** `-- include NAME.lua` stands for lua/includes/NAME.lua, which is included once. */
function withIncludes(file: string, included: Set<string>): string {
  return read(file).replace(INCLUDE, (_, name: string) => {
    if (included.has(name)) return '';
    included.add(name);
    return withIncludes(`includes/${name}`, included);
  });
}

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8');
}
