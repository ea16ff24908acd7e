import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planWith } from './plan.js';
import { runPlan } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

const PLANS = [
  planWith(1, ['kill-worker', 'add-worker', 'zombie', 'terminate-worker']),
  planWith(2, [
    'cut-redis',
    'break-redis',
    'freeze-redis',
    'swallow-redis',
    'delay-redis',
    'flush-scripts',
    'fill-memory',
  ]),
  planWith(3, [
    'cut-kafka',
    'break-kafka',
    'freeze-kafka',
    'delay-kafka',
    'swallow-kafka',
    'leave-transaction-open',
    'leave-transaction-open',
    'kill-kafka',
  ]),
  planWith(4, ['restart-redis', 'empty-redis', 'restore-redis', 'fail-over']),
];
describe('ranklog', () => {
  let kafka: OwnKafka;
  beforeAll(async () => {
    kafka = await OwnKafka.start();
  }, 120_000);
  afterAll(() => kafka.remove());

  it.each(PLANS)(
    'is exact $seed',
    async (plan) => {
      const report = await runPlan(kafka, plan, (line) => process.stdout.write(`${line}\n`));
      process.stdout.write(
        `${JSON.stringify([...report.tally])} ${JSON.stringify(report.verdict)} ${report.seconds}\n`,
      );
      expect(report.verdict.problems).toEqual([]);
    },
    240_000,
  );
});
