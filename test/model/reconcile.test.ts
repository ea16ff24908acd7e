import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openTestRedis } from '../board-store/test-redis.js';
import { knownAndNewRuns, PROPERTY_TIMEOUT } from './arbitrary.js';
import { ReconcileRun } from './reconcile-run.js';
import { reconcileScenarioArbitrary } from './reconcile-scenario.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

describe('a store that is reconciled while events come in', () => {
  it.each(knownAndNewRuns(10))(
    'is at every moment what the oracle of each generation says, and tells every result once (%s)',
    async (parameters) => {
      expect.hasAssertions();
      await fc.assert(
        fc.asyncProperty(reconcileScenarioArbitrary, async (scenario) => {
          const run = new ReconcileRun(redis, newKeys(), scenario);
          await run.prepare();
          for (const step of scenario.steps) await run.step(step);
          await run.finish();
        }),
        parameters,
      );
    },
    PROPERTY_TIMEOUT,
  );
});
