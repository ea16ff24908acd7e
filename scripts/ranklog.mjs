// @ts-check
// `npm run -s ranklog -- ARGS`: the command line of this clone, on the servers of `npm run services`, if they run.
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

ensureDependencies();
ensureBuild();
const env = await serverEnvironment({ start: false });
runNode(
  [new URL('../dist/src/cli/main.js', import.meta.url).pathname, ...process.argv.slice(2)],
  env,
);
