import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LAYERS, layersTable } from '../../scripts/layers/table.mjs';
import { PROJECT } from '../support/project.js';

const rooms = Object.keys(LAYERS);
const guide = readFileSync(path.join(PROJECT, 'CONTRIBUTING.md'), 'utf8');

/** The folders with code in a folder. */
function foldersWithCode(top: string): string[] {
  const files = readdirSync(path.join(PROJECT, top), { recursive: true, encoding: 'utf8' });
  const code = files.filter((file) => /\.tsx?$/.test(file));
  return [...new Set(code.map((file) => path.dirname(path.join(top, file))))].sort();
}

describe('the rooms of the code', () => {
  it('are those of layers.json, each with a rule', () => {
    const found = ['libs', 'src'].flatMap(foldersWithCode);
    expect(found).toEqual([...rooms].sort());
  });

  it('import only rooms below them, so that no two import each other', () => {
    const roomsIn = (name: string) =>
      name.endsWith('.ts')
        ? [path.dirname(name)]
        : rooms.filter((room) => `${room}/`.startsWith(`${name}/`));
    const upwards = Object.entries(LAYERS).flatMap(([room, imports]) =>
      imports
        .filter((name) => roomsIn(name).some((one) => rooms.indexOf(one) > rooms.indexOf(room)))
        .map((name) => `${room} -> ${name}`),
    );
    expect(upwards).toEqual([]);
  });

  it('are in CONTRIBUTING.md, with what is in each and what it may import', async () => {
    expect(guide).toContain(await layersTable());
    const described = [...guide.matchAll(/^\| `((?:src|libs)[^`]*)` +\|/gm)].map(
      ([, room]) => room,
    );
    expect(described.filter((room) => rooms.indexOf(room ?? '') < 0)).toEqual([]);
    expect(rooms.filter((room) => described.filter((one) => one === room).length !== 2)).toEqual(
      [],
    );
  });
});

it('CONTRIBUTING.md names files whose header says how to add something', () => {
  const [, section = ''] = /^## How to add\n([^]*?)^### /m.exec(guide) ?? [];
  const files = [...section.matchAll(/^- .*: `(\S+)`$/gm)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(20);
  const header = /^(\/\/|#) To (add|change) /m;
  const textOf = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8').slice(0, 500);
  expect(files.filter((file) => !header.test(textOf(file)))).toEqual([]);
});
