import { afterAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { openTestRedis } from '../board-store/test-redis.js';
import { knownAndNewRuns, PROPERTY_TIMEOUT } from './arbitrary.js';
import { ModelRun } from './model-run.js';
import { applyScenarioArbitrary, reconcileScenarioArbitrary } from './scenario.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

describe.each([
  { what: 'the store', scenarios: applyScenarioArbitrary, usual: 40 },
  {
    what: 'a store that is reconciled while events come in',
    scenarios: reconcileScenarioArbitrary,
    usual: 12,
  },
])('$what', ({ scenarios, usual }) => {
  it.each(knownAndNewRuns(usual))(
    'holds after every step what the oracle of each generation holds, and publishes every result once (%s)',
    async (parameters) => {
      await fc.assert(
        fc.asyncProperty(scenarios, (scenario) => new ModelRun(redis, newKeys(), scenario).run()),
        parameters,
      );
    },
    PROPERTY_TIMEOUT,
  );
});
