// @ts-check
// `npm test -- ARGS`: all tests; ARGS go to jest. With --unit: those that need no server.
import { fileURLToPath } from 'node:url';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));

const given = process.argv.slice(2);
const unit = given.includes('--unit');
const args = given.filter((arg) => arg !== '--unit');

await ensureDependencies();
// Some tests start dist/ as a process of its own.
if (!unit) await ensureBuild();
const env = unit ? process.env : await serverEnvironment({ start: true });
await runNode(
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', JEST],
    ...(unit ? ['--selectProjects', 'unit'] : []),
    ...['--maxWorkers=2', ...args],
  ],
  // kafkajs has other timings under NODE_ENV=test, which jest would set.
  { ...env, NODE_ENV: 'development' },
);
