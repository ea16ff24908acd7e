import { describe, expect, it } from '@jest/globals';
import type { ApplyCall, ApplyOutcome, BoardStore, Boards } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import { runsOf } from '../../test/ingest/applied-runs.js';
import { Metrics } from '../infra/metrics.js';
import { Applier } from './applier.js';
import type { LiveBoards } from './live-boards.js';
import { StoreChangedError } from './resync.js';

const APPLIED: ApplyOutcome = { status: 'applied', appliedOffset: 4, verdicts: [] };
const NO_BOARDS: Boards = {
  live: new Map(),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

/**
 * An applier whose store returns these outcomes in order, and the calls that its waits and its
 * store get.
 */
function applierOf(
  answers: ApplyOutcome[],
  wait: () => Promise<void> = () => Promise.resolve(),
  appliedOffset = 4,
) {
  const waited: ('wait' | 'done')[] = [];
  const calls: ApplyCall[] = [];
  const store = {
    homeShard: () => 0,
    apply: (call: ApplyCall) => {
      calls.push(call);
      const answer = answers.shift();
      const through = answer?.status === 'applied' && { appliedOffset: call.through };
      return Promise.resolve({ ...answer, ...through });
    },
    appliedOffsets: () => Promise.resolve([2]),
  };
  const services = {
    store: store as unknown as BoardStore,
    boards: { current: NO_BOARDS, refresh: () => Promise.resolve() } as unknown as LiveBoards,
    waits: {
      wait: () => {
        waited.push('wait');
        return wait();
      },
      done: () => void waited.push('done'),
    },
    metrics: new Metrics(),
  };
  const assignment = { partition: 0 } as PartitionAssignment;
  const start = { appliedOffsets: [appliedOffset], continuity: ['token'] };
  return { applier: new Applier(services, assignment, start), waited, calls };
}

describe('a partition that waits for other partitions to recover', () => {
  it('tries again until the call is applied', async () => {
    const { applier, waited } = applierOf([
      { status: 'recovering' },
      { status: 'recovering' },
      APPLIED,
    ]);
    await applier.keepUp(5);
    expect(waited).toEqual(['wait', 'wait', 'done']);
  });

  it('stops waiting when it is taken away, or must start again', async () => {
    const taken = new Error('taken away');
    const lost = applierOf([{ status: 'recovering' }], () => Promise.reject(taken));
    await expect(lost.applier.keepUp(5)).rejects.toBe(taken);
    const changed = applierOf([{ status: 'recovering' }, { status: 'storeChanged' }]);
    await expect(changed.applier.keepUp(5)).rejects.toBeInstanceOf(StoreChangedError);
    expect([lost.waited, changed.waited]).toEqual([
      ['wait', 'done'],
      ['wait', 'done'],
    ]);
  });
});

describe('the start of a partition', () => {
  it('moves the applied offset of a shard that is behind', async () => {
    const { applier, calls } = applierOf([APPLIED], undefined, 1);
    await applier.begin(5, 5);
    expect(calls).toMatchObject([{ believed: 1, from: 2, through: 4, entries: [] }]);
  });

  it('makes no call to a shard that is not behind', async () => {
    const { applier, calls } = applierOf([]);
    await applier.begin(5, 5);
    expect(calls).toEqual([]);
  });

  it('fails if the live boards have changed, because one of them may need earlier events', async () => {
    const { applier } = applierOf([{ status: 'generationChanged' }], undefined, 1);
    await expect(applier.begin(5, 5)).rejects.toThrow('the live boards changed');
  });
});

describe('a run that meets other boards each time', () => {
  const CHANGED: ApplyOutcome = { status: 'generationChanged' };
  const four = [CHANGED, CHANGED, CHANGED, CHANGED];
  /** Two runs, as none straddles the published position. */
  const position = { from: 5, nextOffset: 9, published: 7 };
  const apply = (applier: Applier) => runsOf(applier.apply([], position));

  it('is tried five times, whatever the runs before it took', async () => {
    const { applier, calls } = applierOf([...four, APPLIED, ...four, APPLIED]);
    await apply(applier);
    expect(calls.map(({ from }) => from)).toEqual([5, 5, 5, 5, 5, 7, 7, 7, 7, 7]);
  });

  it('then makes the partition start again', async () => {
    const { applier, calls } = applierOf([...four, CHANGED]);
    await expect(apply(applier)).rejects.toThrow('the live boards changed');
    expect(calls).toHaveLength(5);
  });
});

it('names the first offset of a run refused with a gap, and the first offset that is not applied', async () => {
  const { applier, calls } = applierOf([{ status: 'gap' }]);
  const run = { from: 5, nextOffset: 7, published: 0 };
  const applying = runsOf(applier.apply([], run));
  await expect(applying).rejects.toThrow(/partition 0 from offset 5 on.*from offset 3 on/);
  expect(calls).toMatchObject([{ from: 5, through: 6, entries: [] }]);
});
