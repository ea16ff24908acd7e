import { describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import type { OrderOutcome, OrderStep, ShadowPurpose, UnorderedView } from '#board-store';
import { loggerTo } from '../../test/support/loggers.js';
import { Throttle } from '../infra/throttle.js';
import { LeaseLostError } from '#board-store';
import { Ordering } from './ordering.js';
import { ShadowQueue } from './shadow-queue.js';

const [arena] = parseBoardsFile(
  'boards: { arena: { columns: [{ name: points }] } }',
  'boards.yaml',
);
if (arena === undefined) throw new Error('the file defines no board');
const definition = arena;

const BEGUN = { view: 'all', cursor: '7' };
const NEXT = { view: 'day:1', cursor: '0' };

/** A shadow whose steps answer these, and whose players are counted as these. */
function orderingOf({
  steps,
  counts,
  purpose = 'build',
}: {
  steps: readonly OrderOutcome[];
  counts: readonly number[];
  purpose?: ShadowPurpose;
}) {
  const [nextSteps, nextCounts] = [[...steps], [...counts]];
  const said: string[] = [];
  const asked: (readonly UnorderedView[])[] = [];
  const generations = {
    order: (_lease: unknown, _shadow: unknown, { views }: OrderStep) => {
      asked.push(views);
      const outcome = nextSteps.shift();
      return outcome === undefined
        ? Promise.reject(new Error('no step is left'))
        : Promise.resolve(outcome);
    },
    countUnordered: (_shadow: unknown, begun?: string) => {
      said.push(`count ${begun ?? 'all'}`);
      return Promise.resolve(nextCounts.shift() ?? 0);
    },
  };
  const feed = { suspend: () => void said.push('suspend'), resume: () => void said.push('resume') };
  const queue = new ShadowQueue(
    { board: 'arena', generation: 'g', definition, purpose },
    new Map(),
  );
  const ordering = new Ordering({
    ...{ generations, feed, queue, lease: { board: 'arena', token: 't' } },
    logger: loggerTo((text) => said.push(text)),
    limits: { entries: 100, viewUpdates: 400 },
    throttle: new Throttle(undefined),
    signal: new AbortController().signal,
  });
  return { ordering, said, asked };
}

const step = (players: number, ...views: UnorderedView[]): OrderOutcome => ({
  status: 'applied',
  players,
  views,
});

describe('the players of a shadow that was begun without order', () => {
  it('are told of before they are begun, and then step by step to their end', async () => {
    const steps = [step(0, NEXT), step(400, BEGUN), step(500, NEXT), step(90)];
    const { ordering, said, asked } = orderingOf({ steps, counts: [300, 1_000] });
    expect(ordering.counts).toEqual({ done: 0, total: 0, isBegun: false });
    await ordering.look();
    expect(ordering.counts).toEqual({ done: 0, total: 300, isBegun: false });
    const seen: unknown[] = [];
    await ordering.run(() => Promise.resolve(seen.push(ordering.counts)));
    expect(seen).toEqual([
      { done: 400, total: 1_000, isBegun: true },
      { done: 900, total: 1_000, isBegun: true },
      { done: 990, total: 1_000, isBegun: true },
    ]);
    expect(ordering.counts).toEqual({ done: 990, total: 990, isBegun: true });
    expect(asked).toEqual([[], [NEXT], [BEGUN], [NEXT]]);
    expect(said).toEqual([
      'count all',
      'count all',
      'board "arena" has taken in the log; its players are put in order, 1000 in all its views',
      'suspend',
      'resume',
    ]);
  });

  it('are not at their end while a view is left, though more were put in order than had been counted', async () => {
    const steps = [step(0, NEXT), step(600, BEGUN, NEXT), step(600)];
    const { ordering } = orderingOf({ steps, counts: [500] });
    const seen: unknown[] = [];
    await ordering.run(() => Promise.resolve(seen.push(ordering.counts)));
    expect(seen[0]).toEqual({ done: 600, total: 602, isBegun: true });
    expect(ordering.counts).toEqual({ done: 1_200, total: 1_200, isBegun: true });
  });

  it('are none where the shadow has its order, or is only compared or brought back', async () => {
    const { ordering, said } = orderingOf({ steps: [step(0)], counts: [] });
    await ordering.run(() => Promise.resolve());
    expect(ordering.counts).toBeUndefined();
    for (const purpose of ['verify', 'rollback'] as const) {
      const other = orderingOf({ steps: [], counts: [], purpose });
      await other.ordering.look();
      expect(other.ordering.counts).toBeUndefined();
      expect(other.said).toEqual([]);
    }
    expect(said).toEqual([]);
  });

  it('let the feed go on when they cannot be gone on with', async () => {
    const { ordering, said } = orderingOf({
      steps: [step(0, NEXT), { status: 'leaseLost' }],
      counts: [5],
    });
    await expect(ordering.run(() => Promise.resolve())).rejects.toThrow(LeaseLostError);
    expect(said.at(-1)).toBe('resume');
  });
});
