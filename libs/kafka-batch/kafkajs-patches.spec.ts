import { beforeAll, describe, expect, it } from '@jest/globals';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { patchKafkajs } from './kafkajs-patches.js';

const SILENT = { debug: () => undefined, warn: () => undefined };

/** A queue of requests to a broker; `sent` holds what has left it. */
function queueOf(maxInFlightRequests: number) {
  const sent: number[] = [];
  const queue = new RequestQueue({
    maxInFlightRequests,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'test',
    logger: SILENT,
  });
  const push = (correlationId: number) => {
    queue.push({
      entry: { correlationId, resolve: () => undefined, reject: () => undefined },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    });
  };
  const answer = (correlationId: number) => {
    queue.fulfillRequest({ correlationId, payload: {}, size: 0 });
  };
  return { queue, sent, push, answer };
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!condition() && performance.now() < end) await new Promise(setImmediate);
  expect(condition()).toBe(true);
}

describe('a request queue of kafkajs that is patched', () => {
  beforeAll(() => {
    patchKafkajs();
    patchKafkajs(); // does nothing
  });

  it('sets no timer while nothing waits', () => {
    const { queue, push, answer } = queueOf(1);
    push(1);
    answer(1);
    expect(queue.throttleCheckTimeoutId === null).toBe(true);
  });

  it('sends what waits for a place as soon as there is one', () => {
    const { queue, sent, push, answer } = queueOf(1);
    push(1);
    push(2);
    expect(sent).toEqual([1]);
    answer(1);
    expect(sent).toEqual([1, 2]);
    queue.destroy();
  });

  it('sends what waits for the end of a throttle, and then sets no timer any more', async () => {
    const { queue, sent, push, answer } = queueOf(5);
    const begin = Date.now();
    queue.maybeThrottle(50);
    push(1);
    push(2);
    expect(sent).toEqual([]);
    await until(() => sent.length === 2);
    expect(Date.now() - begin).toBeGreaterThanOrEqual(50);
    answer(1);
    answer(2);
    expect(queue.throttleCheckTimeoutId === null).toBe(true);
  });
});
