import { beforeAll, describe, expect, it } from '@jest/globals';
import type { EachBatchHandler, EachBatchPayload } from 'kafkajs';
import Batch from 'kafkajs/src/consumer/batch.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import { takingEveryFetch, type FetchedBatch } from './every-fetch.js';
import { patchKafkajs } from './kafkajs-patches.js';

const MARKERS = [7, 8].map((offset) => ({ offset: String(offset), isControlRecord: true }));
const LOGGER = { namespace: () => LOGGER, debug: () => undefined };

/** A runner of kafkajs, and the offsets that it resolved. */
function runnerOf(eachBatch: EachBatchHandler) {
  const resolved: string[] = [];
  const consumerGroup = {
    fetch: () => Promise.resolve([markersFrom(5)]),
    resolveOffset: ({ offset }: { offset: string }) => resolved.push(offset),
    heartbeat: () => Promise.resolve(),
  };
  const runner = new Runner({
    ...{ logger: LOGGER, instrumentationEmitter: { emit: () => undefined } },
    ...{ consumerGroup, eachBatch, autoCommit: false, eachBatchAutoResolve: false, concurrency: 1 },
  });
  runner.running = true;
  return { runner, resolved };
}

/** The result of a fetch from this offset: transaction markers only. */
function markersFrom(offset: number) {
  const found = { partition: 0, highWatermark: '9', abortedTransactions: [], messages: MARKERS };
  return new Batch('t', String(offset), found);
}

describe('a fetch that found transaction markers alone', () => {
  beforeAll(patchKafkajs);

  it('is handed to a handler that takes every fetch, which resolves it', async () => {
    const taken: EachBatchPayload[] = [];
    const take = (payload: EachBatchPayload) => Promise.resolve(void taken.push(payload));
    const { runner, resolved } = runnerOf(takingEveryFetch(take));
    const before = performance.now();
    for (const batch of await runner.fetch(1)) await runner.handleBatch(batch);
    const batch = taken[0]!.batch as EachBatchPayload['batch'] & FetchedBatch;
    expect([batch.fetchedOffset, batch.messages, batch.lastOffset()]).toEqual(['5', [], '8']);
    expect(batch.askedAt).toBeGreaterThanOrEqual(before);
    expect(resolved).toEqual([]);
    taken[0]!.resolveOffset(batch.lastOffset());
    expect(resolved).toEqual(['8']);
  });

  it('is skipped by kafkajs for any other handler', async () => {
    const { runner, resolved } = runnerOf(() => Promise.reject(new Error('was called')));
    await runner.handleBatch(markersFrom(5));
    expect(resolved).toEqual(['8']);
  });
});

describe('a log', () => {
  beforeAll(patchKafkajs);

  it('is in sight since its first fetch, until a fetch fails', async () => {
    const { runner } = runnerOf(() => Promise.resolve());
    const inSightSince = async () =>
      (await runner.fetch(1)).map((batch) => (batch as typeof batch & FetchedBatch).inSightSince);
    const [first] = await inSightSince();
    expect(await inSightSince()).toEqual([first]);
    const failure = new Error('the topic was deleted');
    const recovered = ConsumerGroup.prototype.recoverFromFetch.call(runner.consumerGroup, failure);
    await expect(recovered).rejects.toBe(failure);
    const [later] = await inSightSince();
    expect(later).toBeGreaterThan(first!);
  });
});
