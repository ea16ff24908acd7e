import { readFileSync } from 'node:fs';

const INCLUDE = /^-- include (\S+)$/gm;

/** The text of a script of lua/commands. The bundles have the texts in place of this file: see scripts/bundling.mjs. */
export function scriptText(script: string): string {
  return readText(`commands/${script}.lua`, new Set());
}

/** `-- include NAME.lua` stands for lua/includes/NAME.lua, which is included once. */
function readText(file: string, included: Set<string>): string {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text.replace(INCLUDE, (_, name: string) => {
    if (included.has(name)) return '';
    included.add(name);
    return readText(`includes/${name}`, included);
  });
}
