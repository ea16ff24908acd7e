// @ts-check
// `npm run -s ranklog -- ARGS`: the command line of this clone, on the servers of `npm run
// services` where they run.
import { fileURLToPath } from 'node:url';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

await ensureDependencies();
await ensureBuild();
await runNode([PROGRAM, ...process.argv.slice(2)], await serverEnvironment());
