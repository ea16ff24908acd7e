// @ts-check
// `npm run layers`: checks the imports between rooms, then prints those that layers.json allows.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { layersTable } from './layers/table.mjs';

const bin = '../node_modules/dependency-cruiser/bin/dependency-cruise.mjs';
const cruiser = fileURLToPath(new URL(bin, import.meta.url));
const folders = ['src', 'libs', 'test', 'bench', 'scripts'];
const { status } = spawnSync(process.execPath, [cruiser, ...folders], { stdio: 'inherit' });
if (status === 0) process.stdout.write(await layersTable());
process.exitCode = status ?? 1;
