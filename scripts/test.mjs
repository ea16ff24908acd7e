// @ts-check
// `npm test -- ARGS`: all tests; ARGS go to jest. With --unit: those that need no server.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ensureDependencies, runNode } from './with-setup.mjs';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));

// Each suite has servers and services beside it: more workers than cores make them stand still for seconds.
const WORKERS = Math.min(4, availableParallelism());

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== '--unit');

await ensureDependencies();
await runNode(
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', JEST],
    ...(given.includes('--unit') ? ['--selectProjects', 'unit'] : []),
    ...[`--maxWorkers=${WORKERS}`, ...args],
  ],
  // kafkajs has other timings under NODE_ENV=test, which jest would set.
  { ...process.env, NODE_ENV: 'development' },
);
