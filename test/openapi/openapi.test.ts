import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PROPERTY_TIMEOUT, runs } from '../model/arbitrary.js';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { violationsOf } from './answers.js';
import { exchange } from './exchange.js';
import { BOARDS, EVENTS, knownValues } from './known.js';
import { requestArbitrary, shown, type TestRequest } from './requests.js';
import type { Known } from './values.js';

interface Service {
  readonly process: RanklogProcess;
  readonly url: string;
  readonly takesWrites: boolean;
}

let instance: TestInstance;
let services: readonly [Service, Service];
let known: Known;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS);
  const readOnly = await instance.start('--roles', 'query');
  instance.env['RANKLOG_QUERY_WRITES'] = 'true';
  const writing = await instance.start();
  services = [serviceOf(readOnly, false), serviceOf(writing, true)];
  await instance.produce(EVENTS);
  await instance.published(EVENTS.length);
  known = await knownValues(instance.reader);
});
afterAll(() => instance.remove());

function serviceOf(process: RanklogProcess, takesWrites: boolean): Service {
  return { process, url: process.url, takesWrites };
}

/** Sends a request several times, as memory may answer from the second time on. */
async function expectDocumented(request: TestRequest, which: 0 | 1, times: number): Promise<void> {
  const { url, takesWrites } = services[which];
  for (let time = 0; time < times; time++) {
    const answer = await exchange(url, request);
    const violations = violationsOf(request, answer, takesWrites);
    expect({ violations, request: shown(request), answer }).toMatchObject({ violations: [] });
  }
}

describe('the service', () => {
  it(
    'answers any request as docs/reference/openapi.json says, and never with an internal error',
    async () => {
      const settings = runs(200);
      const which = fc.constantFrom(0 as const, 1 as const);
      const times = fc.constantFrom(1, 1, 2);
      const property = fc.asyncProperty(requestArbitrary(known), which, times, expectDocumented);
      await fc.assert(property, settings);
      const errors = services.flatMap(({ process }) =>
        process.errors.split('\n').filter((line) => line.includes('"level":"error"')),
      );
      expect([String(settings), errors]).toEqual([String(settings), []]);
    },
    PROPERTY_TIMEOUT,
  );
});
