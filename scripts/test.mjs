// @ts-check
// `npm test -- ARGS`: all tests but those of the last three flags; ARGS go to jest. --unit runs
// those that need no server, --redis those that need Redis alone, --packages those of packed
// packages, which npm installs, --clients the programs of docs/clients.md, --page those in a
// browser. --redis=cluster and --redis=sentinel run the given tests on that kind of Redis.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ensureDependencies, runNode } from './with-setup.mjs';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));

// One more than cores: suites wait for their servers more than they compute. With still more,
// servers stall for seconds.
const WORKERS = Math.min(4, availableParallelism() + 1);

const RUNGS = ['--unit', '--redis', '--packages', '--clients', '--page'];
const KINDS = ['single', 'cluster', 'sentinel'];
const given = process.argv.slice(2);
const rung = given.find((arg) => RUNGS.includes(arg));
const kind = given.find((arg) => arg.startsWith('--redis='))?.slice('--redis='.length);
const args = given.filter((arg) => !RUNGS.includes(arg) && !arg.startsWith('--redis='));

if (kind !== undefined && !KINDS.includes(kind)) {
  process.stderr.write(`--redis=${kind} is not known; use ${KINDS.join(', ')}\n`);
  process.exit(2);
}

await ensureDependencies();
await runNode(
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', JEST],
    ...(rung
      ? ['--selectProjects', rung.slice(2)]
      : ['--ignoreProjects', 'packages', 'clients', 'page']),
    ...[`--maxWorkers=${WORKERS}`, ...args],
  ],
  {
    ...process.env,
    ...(kind && { RANKLOG_TEST_REDIS: kind }),
    // kafkajs has other timings under NODE_ENV=test, which jest would set.
    NODE_ENV: 'development',
    // The brokers of the tests live for minutes: what Java's second compiler costs does not come
    // back.
    JAVA_TOOL_OPTIONS: `${process.env['JAVA_TOOL_OPTIONS'] ?? ''} -XX:TieredStopAtLevel=1`,
  },
);
