import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { faultsOn, requireOn } from './faults/all.js';
import type { RedisKind } from '#servers';
import { planOf } from './plan.js';
import { reportJson, totalsOf, totalsTable, verdictText } from './report.js';
import { runPlan, type RunReport } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

/** The options of scripts/test-faults.mjs. */
interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly redis: RedisKind;
  readonly brokers: number;
  readonly json: boolean;
  /** Names of faults; empty for all faults. */
  readonly faults: readonly string[];
}

const options = JSON.parse(process.env['RANKLOG_TEST_FAULTS'] ?? '{}') as Options;
const { minutes, seed, redis, brokers, json } = options;
const MS_FOR_THE_LAST_RUN = 15 * 60_000;
requireOn(redis, options.faults);
const names = options.faults.length > 0 ? options.faults : faultsOn(redis);

/** With --json, standard output has only the report. */
function say(text: string): void {
  (json ? process.stderr : process.stdout).write(`${text}\n`);
}

function commandFor({ plan }: RunReport): string {
  const limited = options.faults.length > 0 ? ` --faults ${names.join()}` : '';
  const kind = redis === 'single' ? '' : ` --redis ${redis}`;
  const replicated = brokers === 1 ? '' : ` --brokers ${brokers}`;
  return `npm run test:faults -- --seed ${plan.seed}${kind}${replicated}${limited}`;
}

let kafka: OwnKafka;
beforeAll(async () => {
  kafka = await OwnKafka.start();
}, 120_000);
afterAll(() => kafka.remove(), 60_000);

it(
  'every test run is exact',
  async () => {
    const end = performance.now() + minutes * 60_000;
    const reports: RunReport[] = [];
    do {
      const report = await runPlan(
        kafka,
        planOf(seed + reports.length, names, redis, brokers),
        say,
      );
      say(verdictText(report));
      if (report.verdict.problems.length > 0) say(`repeat it with: ${commandFor(report)}`);
      reports.push(report);
    } while (performance.now() < end);
    say(totalsTable(totalsOf(reports)));
    if (json) process.stdout.write(`${reportJson(reports)}\n`);
    const failed = reports.filter(({ verdict }) => verdict.problems.length > 0);
    expect(failed.map(({ plan }) => `seed ${plan.seed} is not exact`)).toEqual([]);
  },
  minutes * 60_000 + MS_FOR_THE_LAST_RUN,
);
