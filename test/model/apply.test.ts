import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openTestRedis } from '../board-store/test-redis.js';
import { knownAndNewRuns, PROPERTY_TIMEOUT } from './arbitrary.js';
import { scenarioArbitrary } from './scenario.js';
import { StoreRun } from './store-run.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

describe('the store', () => {
  it.each(knownAndNewRuns(70))(
    'answers and keeps what the oracle does, by any way through the same logs (%s)',
    async (parameters) => {
      await fc.assert(
        fc.asyncProperty(scenarioArbitrary, async (scenario) => {
          const boards = [];
          for (const { shards, steps } of scenario.ways) {
            const run = new StoreRun(redis, newKeys(), scenario, shards);
            await run.prepare();
            for (const step of steps) await run.step(step);
            boards.push(await run.finish());
          }
          const [one, other] = boards;
          for (const [board, bytes] of one!)
            if (other!.has(board)) expect(other!.get(board)).toEqual(bytes);
        }),
        parameters,
      );
    },
    PROPERTY_TIMEOUT,
  );
});
