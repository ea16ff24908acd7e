import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planWith } from './plan.js';
import { verdictText } from './report.js';
import { runPlan } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

/** They run beside each other. */
const PLANS = [
  planWith(1, ['move-slot', 'cut-off-node', 'empty-redis'], 'cluster'),
  planWith(1, ['kill-primary'], 'sentinel'),
];
const MS_OF_A_RUN = 900_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

describe('ranklog under faults of a Redis Cluster and of a Redis with sentinels', () => {
  let kafka: OwnKafka;
  beforeAll(async () => {
    kafka = await OwnKafka.start();
  }, 400_000);
  afterAll(() => kafka.remove(), 60_000);

  it(
    'publishes each result exactly once, with the boards and ranks of the oracle',
    async () => {
      const reports = await Promise.all(PLANS.map((plan) => runPlan(kafka, plan, say)));
      for (const report of reports) say(verdictText(report));
      expect(reports.map(({ verdict }) => verdict.problems)).toEqual([[], []]);
    },
    MS_OF_A_RUN,
  );
});
