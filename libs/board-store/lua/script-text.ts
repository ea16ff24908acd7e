import { readFileSync } from 'node:fs';
import { readHeader, type Header } from './script-header.js';

/** A script of lua/commands, as it is sent to Redis, and the names of what it takes. */
export interface ScriptText extends Header {
  readonly text: string;
}

const INCLUDE = /^-- include (\S+)$/gm;

/** Reads a script. The bundles have the scripts in place of this file: see scripts/bundling.mjs. */
export function readScript(script: string): ScriptText {
  const file = `commands/${script}.lua`;
  const header = readHeader(file, read);
  const locals = localsOf('KEYS', header.keys) + localsOf('ARGV', header.arguments);
  // In front of the first line, a comment: the line numbers in errors of Redis stay right.
  return { ...header, text: locals + withIncludes(file, new Set()) };
}

/**
 * A local for each name. That of a list is the index of its first item, `views_from` for
 * `views...`; a list behind another one has no local, as only the script knows where it begins.
 */
function localsOf(table: 'KEYS' | 'ARGV', names: readonly string[]): string {
  const isList = (name = '') => name.endsWith('...');
  const known = names.filter((name, index) => !isList(name) || !isList(names[index - 1]));
  if (known.length === 0) return '';
  const locals = known.map((name) => name.replace('...', '_from'));
  const values = known.map((name, i) => (isList(name) ? i + 1 : `${table}[${i + 1}]`));
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
