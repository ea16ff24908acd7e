// @ts-check
// `npm run layers`: checks the imports between rooms, then prints those that layers.json allows, as CONTRIBUTING.md shows them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'prettier';

/**
 * The rooms of the code from the bottom up: each folder, without the rooms in it, and the folders and files that it may import.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const LAYERS = JSON.parse(readFileSync(new URL('../layers.json', import.meta.url), 'utf8'));

/** The rooms and what they may import, as a table in Markdown. @returns {Promise<string>} */
export function layersTable() {
  const rows = Object.entries(LAYERS).map(([room, imports]) => {
    const names = imports.map((name) => shortName(name, room)).join(' ');
    return `| \`${room}\` | ${names || 'none of ours'} |`;
  });
  const table = ['| room | may import |', '| --- | --- |', ...rows].join('\n');
  return format(table, { parser: 'markdown' });
}

/**
 * A library as it is imported (`#board`); a folder of src without `src`, and without the folder that both are in.
 * @param {string} name @param {string} room
 */
function shortName(name, room) {
  const [top = '', folder = ''] = room.split('/');
  const shared = `${top}/${folder}/`;
  if (name.startsWith(shared)) return name.slice(shared.length);
  return name.replace(/^src\//, '').replace(/^libs\//, '#');
}

const isMain = import.meta.url === pathToFileURL(process.argv[1] ?? '').href;
if (isMain) {
  const bin = '../node_modules/dependency-cruiser/bin/dependency-cruise.mjs';
  const cruiser = fileURLToPath(new URL(bin, import.meta.url));
  const folders = ['src', 'libs', 'test', 'bench', 'scripts'];
  const { status } = spawnSync(process.execPath, [cruiser, ...folders], { stdio: 'inherit' });
  if (status === 0) process.stdout.write(await layersTable());
  process.exitCode = status ?? 1;
}
