// @ts-check
import { readFileSync } from 'node:fs';
import { format } from 'prettier';

/**
 * The rooms of the code from the bottom up. A room is a folder without the rooms in it. Each has
 * the folders and files that it may import.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const LAYERS = JSON.parse(
  readFileSync(new URL('../../layers.json', import.meta.url), 'utf8'),
);

/** The rooms and what they may import, as CONTRIBUTING.md shows them. @returns {Promise<string>} */
export function layersTable() {
  const rows = Object.entries(LAYERS).map(([room, imports]) => {
    const names = imports.map((name) => shortName(name, room)).join(' ');
    return `| \`${room}\` | ${names || 'none of ours'} |`;
  });
  const table = ['| room | may import |', '| --- | --- |', ...rows].join('\n');
  return format(table, { parser: 'markdown' });
}

/**
 * A library as it is imported (`#board`); a folder of src without `src`, and without the folder
 * that both are in; a file without its ending.
 * @param {string} name @param {string} room
 */
function shortName(name, room) {
  const [top = '', folder = ''] = room.split('/');
  const shared = `${top}/${folder}/`;
  if (name.startsWith(shared)) return name.slice(shared.length);
  return name
    .replace(/^src\//, '')
    .replace(/^libs\//, '#')
    .replace(/\.ts$/, '');
}
