import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planWith } from './plan.js';
import { verdictText } from './report.js';
import { runPlan } from './run.js';
import { OwnKafka } from './world/own-kafka.js';

/**
 * With this plan, ranklog sends every kind of its requests: groups and their members, transactions,
 * fencing, offsets, admin.
 */
const PLAN = planWith(39, ['kill-worker', 'leave-transaction-open', 'empty-redis']);

describe('ranklog on the oldest supported Kafka', () => {
  let kafka: OwnKafka;
  beforeAll(async () => {
    kafka = await OwnKafka.start('3.9');
  }, 400_000);
  afterAll(() => kafka.remove());

  it('publishes each result exactly once, with the boards and ranks of the oracle', async () => {
    const say = (text: string) => process.stdout.write(`${text}\n`);
    const report = await runPlan(kafka, PLAN, say);
    say(verdictText(report));
    expect(report.verdict.problems).toEqual([]);
  });
});
