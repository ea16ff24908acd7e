import { describe, expect, it } from '@jest/globals';
import { MAX_WAITING_RESULTS, PublishPipeline, type Publication } from './publish-pipeline.js';

const publication = (nextOffset: number, results = 1): Publication => ({
  nextOffset,
  results: Array.from({ length: results }, (_, index) => ({
    topic: 't',
    message: { value: `${nextOffset}/${index}` },
  })),
});

/** A publish function whose calls the test resolves or rejects. */
class ManualPublish {
  readonly calls: {
    publication: Publication;
    succeed: () => void;
    fail: (error: Error) => void;
  }[] = [];
  readonly publish = (published: Publication): Promise<void> =>
    new Promise((succeed, fail) => this.calls.push({ publication: published, succeed, fail }));
}

const settled = () => new Promise(setImmediate);

describe('PublishPipeline', () => {
  it('publishes in one transaction, in order, what was added during the previous one', async () => {
    const manual = new ManualPublish();
    const pipeline = new PublishPipeline(manual.publish, () => undefined);
    for (const nextOffset of [1, 2, 3]) await pipeline.add(publication(nextOffset));
    manual.calls[0]?.succeed();
    await settled();
    manual.calls[1]?.succeed();
    await pipeline.drain();

    expect(manual.calls.map(({ publication: { nextOffset } }) => nextOffset)).toEqual([1, 3]);
    expect(manual.calls[1]?.publication.results.map(({ message }) => message.value)).toEqual([
      '2/0',
      '3/0',
    ]);
  });

  it('makes the caller wait while too many results wait', async () => {
    const manual = new ManualPublish();
    const pipeline = new PublishPipeline(manual.publish, () => undefined);
    await pipeline.add(publication(1, MAX_WAITING_RESULTS));
    let added = false;
    const adding = pipeline.add(publication(2)).then(() => (added = true));
    await settled();
    expect(added).toBe(false);

    manual.calls[0]?.succeed();
    await adding;
    expect(added).toBe(true);
  });

  it('reports the first failure once, and from then on publishes nothing and accepts nothing', async () => {
    const manual = new ManualPublish();
    const failures: Error[] = [];
    const pipeline = new PublishPipeline(manual.publish, (error) => failures.push(error));
    const failure = new Error('fenced');
    await pipeline.add(publication(1));
    await pipeline.add(publication(2));
    manual.calls[0]?.fail(failure);
    await settled();

    await expect(pipeline.add(publication(3))).rejects.toBe(failure);
    await expect(pipeline.drain()).rejects.toBe(failure);
    expect(failures).toEqual([failure]);
    expect(manual.calls).toHaveLength(1);
  });
});
