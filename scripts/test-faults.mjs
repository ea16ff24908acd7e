// @ts-check
// `npm run test:faults -- [OPTIONS]`: runs the fault suite once or for a given time. See
// test/faults/README.md.
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureDependencies, runNode } from './with-setup.mjs';

const HELP = `Usage: npm run test:faults -- [OPTIONS]

Runs plans of random faults against ranklog on a Kafka and Redis of their own, and checks after each that every board and
every result is exact. A test run carries out one plan, which follows from its seed; the seeds are S, S+1, ...

Options:
  --minutes N   begin no more test runs after N minutes (default 0: one test run)
  --seed S      seed of the first test run, a whole number (default: a random one, which is printed)
  --redis KIND  single (the default), cluster or sentinel: what Redis the test runs have
  --brokers N   all test runs have N brokers, and N replicas of each topic (default 1)
  --faults F,G  choose among these faults only; their names are in test/faults/README.md
  --json        the report as JSON on standard output; the progress goes to standard error
  --help

Exit codes: 0 all test runs were exact, 1 some were not (their seeds are printed), 2 wrong usage.
`;

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const KINDS = ['single', 'cluster', 'sentinel'];
const CONFIG = fileURLToPath(new URL('../test/faults/jest.config.mjs', import.meta.url));

const options = parse(process.argv.slice(2));
if (options !== undefined) {
  await ensureDependencies();
  await runNode(
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', JEST],
      ...['--config', CONFIG, '--runInBand'],
    ],
    // kafkajs has other timings under NODE_ENV=test, which jest would set.
    { ...process.env, NODE_ENV: 'development', RANKLOG_TEST_FAULTS: JSON.stringify(options) },
  );
}

/** The options; undefined when there is nothing to run. @param {string[]} args */
function parse(args) {
  try {
    const text = /** @type {const} */ ({ type: 'string' });
    const flag = /** @type {const} */ ({ type: 'boolean', default: false });
    const { values } = parseArgs({
      args,
      options: {
        ...{ minutes: text, seed: text, redis: text, brokers: text, faults: text },
        ...{ json: flag, help: flag },
      },
    });
    if (values.help) return void process.stdout.write(HELP);
    return {
      minutes: number('minutes', values.minutes ?? '0'),
      seed: number('seed', values.seed ?? String(randomInt(1_000_000))),
      redis: kind(values.redis ?? 'single'),
      brokers: Math.max(1, number('brokers', values.brokers ?? '1')),
      faults: values.faults?.split(',') ?? [],
      json: values.json,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}; see --help\n`);
    process.exitCode = 2;
    return undefined;
  }
}

/** @param {string} text */
function kind(text) {
  if (!KINDS.includes(text)) throw new Error(`--redis takes ${KINDS.join(', ')}, not "${text}"`);
  return text;
}

/** @param {string} name @param {string} text */
function number(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`);
  return Number(text);
}
