// @ts-check
// `npm run test:flaky -- N [SUITE...]`: runs suites again and again, half of the runs beside a
// load. See HELP.
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { runInForeground } from '../libs/servers/foreground.mjs';

const HELP = `Usage: npm run test:flaky -- N [SUITE...]

Runs "npm test -- SUITE..." N times, all suites without SUITE. Every second run has a load beside it: one busy thread for each
core, and traffic on loopback. Keeps the report and the output of each run that fails in flaky/TIME/, and prints its seed,
with which RANKLOG_TEST_SEED repeats the random numbers of the run. Ends with a table of runs and failures by suite.

Options:
  --help

Exit codes: 0 no run failed, 1 some failed, 2 wrong usage.
`;

/**
 * One failure. `test` is empty if the suite could not run.
 * @typedef {{ suite: string, test: string }} Failure
 * @typedef {{ runs: number, failed: number, failedBesideLoad: number, tests: Set<string> }} Count
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEST = path.join(ROOT, 'scripts', 'test.mjs');
const FOLDER = path.join(ROOT, 'flaky', new Date().toISOString().replaceAll(':', '-'));

const task = parse(process.argv.slice(2));
if (task !== undefined) process.exitCode = await runAll(task);

/** @param {{ runs: number, suites: string[] }} task @returns {Promise<number>} the exit code */
async function runAll({ runs, suites }) {
  /** @type {Map<string, Count>} */
  const counts = new Map();
  mkdirSync(FOLDER, { recursive: true });
  let failedRuns = 0;
  for (let run = 1; run <= runs; run++) {
    const { code, suitesRun, failures } = await runOnce(run, suites);
    if (code > 128) return code; // interrupted
    if (code !== 0) failedRuns++;
    count(counts, suitesRun, failures, hasLoad(run));
  }
  if (failedRuns === 0) rmSync(FOLDER, { recursive: true });
  process.stdout.write(`\n${tableOf(counts)}\n${failedRuns} of ${runs} runs failed\n`);
  if (failedRuns > 0) process.stdout.write(`their reports and output: ${FOLDER}\n`);
  return failedRuns > 0 ? 1 : 0;
}

/** @param {number} run */
function hasLoad(run) {
  return run % 2 === 0;
}

/** @param {number} run @param {string[]} suites */
async function runOnce(run, suites) {
  const seed = process.env['RANKLOG_TEST_SEED'] ?? String(randomInt(2 ** 31));
  const name = path.join(FOLDER, `run-${run}${hasLoad(run) ? '-load' : ''}`);
  const [report, output] = [`${name}.json`, `${name}.txt`];
  const log = openSync(output, 'w');
  const load = Array.from(
    { length: hasLoad(run) ? availableParallelism() : 0 },
    () => new Worker(new URL('./load.mjs', import.meta.url)),
  );
  const begun = performance.now();
  const code = await runInForeground(
    process.execPath,
    // A test that fails may leave connections open, which would keep jest from ending.
    [TEST, ...suites, '--forceExit', '--json', `--outputFile=${report}`],
    {
      cwd: ROOT,
      stdio: ['ignore', log, log],
      env: { ...process.env, RANKLOG_TEST_SEED: seed },
    },
  ).finally(() => Promise.all(load.map((worker) => worker.terminate())));
  closeSync(log);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const { suitesRun, failures } = read(report);
  const problem = code > 128 ? 'was interrupted' : 'FAILED';
  const outcome = code === 0 ? 'passed' : `${problem}, exit code ${code}`;
  const besides = hasLoad(run) ? ' beside a load' : '';
  process.stdout.write(`run ${run}${besides}: ${outcome} after ${seconds} s, seed ${seed}\n`);
  for (const { suite, test } of failures) process.stdout.write(`  ${suite}: ${test}\n`);
  if (code === 0) for (const file of [report, output]) rmSync(file, { force: true });
  return { code, suitesRun, failures };
}

/** @param {string} report @returns {{ suitesRun: string[], failures: Failure[] }} */
function read(report) {
  if (!existsSync(report)) return { suitesRun: [], failures: [] };
  /**
   * @type {{ testResults: { name: string, status: string, assertionResults: { fullName: string,
   * status: string }[] }[] }}
   */
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const failures = testResults.flatMap(({ name, status, assertionResults }) => {
    const suite = path.relative(ROOT, name);
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [{ suite, test: 'could not run' }];
    return failed.map(({ fullName }) => ({ suite, test: fullName }));
  });
  return { suitesRun: testResults.map(({ name }) => path.relative(ROOT, name)), failures };
}

/**
 * @param {Map<string, Count>} counts @param {string[]} suites @param {Failure[]} failures @param
 * {boolean} besideLoad
 */
function count(counts, suites, failures, besideLoad) {
  for (const suite of suites) {
    const found = counts.get(suite) ?? {
      runs: 0,
      failed: 0,
      failedBesideLoad: 0,
      tests: new Set(),
    };
    const tests = failures.filter((failure) => failure.suite === suite).map(({ test }) => test);
    found.runs++;
    if (tests.length > 0) found.failed++;
    if (tests.length > 0 && besideLoad) found.failedBesideLoad++;
    for (const test of tests) found.tests.add(test);
    counts.set(suite, found);
  }
}

/** @param {Map<string, Count>} counts */
function tableOf(counts) {
  const rows = [...counts].sort(
    ([a, one], [b, other]) => other.failed - one.failed || (a < b ? -1 : 1),
  );
  const width = Math.max(5, ...rows.map(([suite]) => suite.length));
  const lines = rows.flatMap(([suite, { runs, failed, failedBesideLoad, tests }]) => [
    `${suite.padEnd(width)}  ${cell(runs)}  ${cell(failed)}  ${cell(failedBesideLoad)}`,
    ...[...tests].map((test) => `    ${test}`),
  ]);
  return [`${'suite'.padEnd(width)}    runs  failed  of these beside a load`, ...lines].join('\n');
}

/** @param {number} value */
function cell(value) {
  return String(value).padStart(6);
}

/** undefined when there is nothing to run. @param {string[]} args */
function parse(args) {
  try {
    const flag = /** @type {const} */ ({ type: 'boolean', default: false });
    const { values, positionals } = parseArgs({
      args,
      options: { help: flag },
      allowPositionals: true,
    });
    if (values.help) return void process.stdout.write(HELP);
    const [runs = '', ...suites] = positionals;
    if (!/^[1-9]\d*$/.test(runs))
      throw new Error(`the first argument is the number of runs, not "${runs}"`);
    return { runs: Number(runs), suites };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}; see --help\n`);
    process.exitCode = 2;
    return undefined;
  }
}
