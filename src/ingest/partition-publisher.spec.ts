import { describe, expect, it } from '@jest/globals';
import { Metrics } from '../infra/metrics.js';
import type { AppliedRun } from './applier.js';
import type { ReportedDeadLetter } from './dead-letter-report.js';
import { MAX_WAITING_RESULTS, PartitionPublisher } from './partition-publisher.js';
import type { OpenPublisher, Publication, Result, ResultLog } from './result-log.js';

const results = (nextOffset: number, count = 1) =>
  Array.from({ length: count }, (_, index) => ({
    topic: 't',
    board: index % 2 === 0 ? 'arena' : 'chess',
    record: { value: `${nextOffset}/${index}` },
  }));

/** A result log whose publications the test lets succeed or fail. Results are given as verdicts. */
class ManualLog {
  readonly calls: {
    publication: Publication;
    succeed: () => void;
    fail: (error: Error) => void;
  }[] = [];

  readonly encode = (_: number, verdict: unknown) => verdict as Result;

  readonly recentContinuity = () => Promise.resolve([]);

  readonly maxBytes = (_: number, topic: string): number => {
    if (topic === 'bad') throw new Error('cannot be encoded');
    return Infinity;
  };

  readonly publish: ResultLog['publish'] = (_, publication) =>
    new Promise((succeed, fail) => this.calls.push({ publication, succeed, fail }));
}

/** A publisher, and the function that adds results to it. */
function publisherOf(manual: ManualLog, failures: Error[] = []) {
  const metrics = new Metrics();
  const publisher = new PartitionPublisher(
    { resultLog: manual, deadLetters: { published: () => undefined }, metrics },
    { partition: 0, restart: (error) => failures.push(error) },
    { publisher: { close: () => Promise.resolve() } } as OpenPublisher,
    0,
  );
  const addAll = (all: readonly Result[], nextOffset: number) => {
    const verdicts = all.map((verdict) => ({ verdict, read: {} }));
    return publisher.add({ through: nextOffset - 1, verdicts } as unknown as AppliedRun);
  };
  const add = (nextOffset: number, count?: number) => {
    const added = addAll(results(nextOffset, count), nextOffset);
    publisher.flush();
    return added;
  };
  const waits = async () => (await metrics.gauges.ranklog_outbox_results.get()).values[0]?.value;
  return { publisher, addAll, add, waits };
}

const settled = () => new Promise(setImmediate);

describe('PartitionPublisher', () => {
  it('fails if a result cannot be encoded: it publishes nothing of what waits', async () => {
    const manual = new ManualLog();
    const failures: Error[] = [];
    const { addAll, add } = publisherOf(manual, failures);
    for (const nextOffset of [1, 2]) await add(nextOffset);
    const bad = { topic: 'bad', board: '', record: { value: 'x' } };
    await expect(addAll([bad], 3)).rejects.toThrow('cannot be encoded');
    await expect(add(4)).rejects.toThrow('cannot be encoded');
    manual.calls[0]?.succeed();
    await settled();
    expect(manual.calls).toHaveLength(1);
    expect(failures).toHaveLength(1);
  });

  it('counts a dead letter with a large key or large headers as several results', async () => {
    const { addAll, waits } = publisherOf(new ManualLog());
    const source = { topic: 't', partition: 0, offset: 0 };
    const deadLetter = { source, code: 'NOT_JSON', detail: 'why' } as unknown as ReportedDeadLetter;
    const key = Buffer.alloc(8_192);
    const headers = { trace: [Buffer.alloc(4_096), 'x'.repeat(4_096)] };
    const record = { key, value: null, headers };
    await addAll([{ topic: 't', board: '', record, deadLetter }], 1);
    expect(await waits()).toBe(5);
  });

  it('publishes in one transaction, in order, what was added during the previous one', async () => {
    const manual = new ManualLog();
    const { publisher, add, waits } = publisherOf(manual);
    for (const nextOffset of [1, 2, 3]) await add(nextOffset, nextOffset);
    expect(await waits()).toBe(6);
    manual.calls[0]?.succeed();
    await settled();
    expect(await waits()).toBe(5);
    manual.calls[1]?.succeed();
    await publisher.close();
    expect(await waits()).toBe(0);

    expect(manual.calls.map(({ publication: { nextOffset } }) => nextOffset)).toEqual([1, 3]);
    const [batch, ...others] = manual.calls[1]?.publication.results.get('t')?.batches.close() ?? [];
    expect(batch?.bytes.toString('latin1')).toMatch(/2\/0.*3\/0/s);
    expect([batch?.count, others]).toEqual([5, []]);
    expect(manual.calls[1]?.publication.results.get('t')?.counts).toEqual(
      new Map([
        ['arena', 3],
        ['chess', 2],
      ]),
    );
  });

  it('waits for the results of a whole batch, unless a transaction is full', async () => {
    const manual = new ManualLog();
    const { publisher, addAll } = publisherOf(manual);
    const nextOffsets = () => manual.calls.map(({ publication: { nextOffset } }) => nextOffset);
    await addAll(results(1, 1_500), 1);
    await settled();
    expect(nextOffsets()).toEqual([]);
    await addAll(results(2, 600), 2);
    expect(nextOffsets()).toEqual([1]);
    manual.calls[0]?.succeed();
    await settled();
    expect(nextOffsets()).toEqual([1]);
    publisher.flush();
    await settled();
    expect(nextOffsets()).toEqual([1, 2]);
    await addAll(results(3, MAX_WAITING_RESULTS - 700), 3); // more than a transaction takes
    manual.calls[1]?.succeed();
    await settled();
    expect(nextOffsets()).toEqual([1, 2, 3]);
  });

  it('makes the caller wait while too many results wait', async () => {
    const manual = new ManualLog();
    const { add } = publisherOf(manual);
    await add(1, MAX_WAITING_RESULTS);
    let added = false;
    const adding = add(2).then(() => (added = true));
    await settled();
    expect(added).toBe(false);

    manual.calls[0]?.succeed();
    await adding;
    expect(added).toBe(true);
  });

  it('reports the first failure once, and from then on publishes nothing and accepts nothing', async () => {
    const manual = new ManualLog();
    const failures: Error[] = [];
    const { publisher, add, waits } = publisherOf(manual, failures);
    const failure = new Error('fenced');
    await add(1);
    await add(2);
    manual.calls[0]?.fail(failure);
    await settled();

    await expect(add(3)).rejects.toBe(failure);
    await publisher.close();
    expect(failures).toEqual([failure]);
    expect(await waits()).toBe(0);
    expect(manual.calls).toHaveLength(1);
  });
});
