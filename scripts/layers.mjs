// @ts-check
// `npm run layers`: checks the imports between rooms, then prints what each room may import.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { layersTable } from './layers/table.mjs';

const CRUISER = '../node_modules/dependency-cruiser/bin/dependency-cruise.mjs';
const FOLDERS = ['src', 'libs', 'test', 'bench', 'scripts'];

const cruiser = fileURLToPath(new URL(CRUISER, import.meta.url));
const { status } = spawnSync(process.execPath, [cruiser, ...FOLDERS], { stdio: 'inherit' });
if (status === 0) process.stdout.write(await layersTable());
process.exitCode = status ?? 1;
