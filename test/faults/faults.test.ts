import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.js';
import { BOUNDED_PLANS } from './bounded-plans.js';
import { FAULTS } from './faults/all.js';
import { planOf } from './plan.js';
import { totalsOf, totalsTable, verdictText } from './report.js';
import { runPlan, type RunReport } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

const { seed } = seededRandom();
const NAMES = FAULTS.map(({ name }) => name);
const RANDOM_PLAN = planOf(seed, NAMES);
const MS_OF_A_RUN = 900_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

it('the bounded plans contain every fault', () => {
  const used = BOUNDED_PLANS.flatMap(({ steps }) => steps.map(({ fault }) => fault));
  expect(new Set(used)).toEqual(new Set(NAMES));
});

describe('ranklog under faults of its servers, workers and networks', () => {
  let kafka: OwnKafka;
  const reports: RunReport[] = [];
  beforeAll(async () => {
    say(`repeat the random plan with: npm run test:faults -- --seed ${seed}`);
    kafka = await OwnKafka.start();
  }, 400_000);
  afterAll(async () => {
    say(totalsTable(totalsOf(reports)));
    await kafka.remove();
  }, 60_000);

  it.each([...BOUNDED_PLANS, RANDOM_PLAN])(
    'publishes each result exactly once, with the boards and ranks of the oracle: seed $seed',
    async (plan) => {
      const report = await runPlan(kafka, plan, say);
      reports.push(report);
      say(verdictText(report));
      expect(report.verdict.problems).toEqual([]);
    },
    MS_OF_A_RUN,
  );
});
