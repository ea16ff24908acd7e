// @ts-check
// `npm test -- ARGS`: all tests; ARGS go to jest. With --unit: those that need no server.
import { createRequire } from 'node:module';
import path from 'node:path';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const given = process.argv.slice(2);
const unit = given.includes('--unit');
const args = given.filter((arg) => arg !== '--unit');

ensureDependencies();
if (!unit) ensureBuild();
const env = unit ? { ...process.env } : await serverEnvironment({ start: true });
const jest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('jest/package.json')),
  'bin/jest.js',
);
runNode(
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    jest,
    ...(unit ? ['--selectProjects', 'unit'] : []),
    '--maxWorkers=2',
    ...args,
  ],
  // kafkajs has other timings under NODE_ENV=test, which jest would set.
  { ...env, NODE_ENV: 'development', NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
);
