import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planWith } from './plan.js';
import { runPlan } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

describe('ranklog', () => {
  let kafka: OwnKafka;
  beforeAll(async () => {
    kafka = await OwnKafka.start();
  }, 120_000);
  afterAll(() => kafka.remove());

  it('is exact while workers are killed, stopped, added and ended', async () => {
    const plan = planWith(1, ['kill-worker', 'add-worker', 'zombie', 'terminate-worker']);
    const report = await runPlan(kafka, plan, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(
      `${JSON.stringify([...report.tally])} ${JSON.stringify(report.verdict)} ${report.seconds}\n`,
    );
    expect(report.verdict.problems).toEqual([]);
  }, 240_000);
});
