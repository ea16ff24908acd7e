import { describe, expect, it } from '@jest/globals';
import type { ApplyCall, ApplyOutcome, BoardStore, Boards } from '#board-store';
import { AppliedGapError, Applier } from './applier.js';
import type { LiveBoards } from './live-boards.js';
import { StoreChangedError } from './resync.js';

const APPLIED: ApplyOutcome = { status: 'applied', appliedOffset: 4, verdicts: [] };
const NO_BOARDS: Boards = {
  live: new Map(),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

/** An applier whose store answers this, one after the other, and what its waiter hears. */
function applierOf(
  answers: ApplyOutcome[],
  moment: () => Promise<void> = () => Promise.resolve(),
  appliedOffset = 4,
) {
  const heard: ('moment' | 'over')[] = [];
  const calls: ApplyCall[] = [];
  const store = {
    shards: 1,
    apply: (call: ApplyCall) => {
      calls.push(call);
      return Promise.resolve(answers.shift());
    },
    appliedOffsets: () => Promise.resolve([2]),
  };
  const services = {
    store: store as unknown as BoardStore,
    boards: { current: NO_BOARDS } as unknown as LiveBoards,
  };
  const waiter = {
    moment: () => {
      heard.push('moment');
      return moment();
    },
    over: () => {
      heard.push('over');
    },
  };
  const start = { appliedOffsets: [appliedOffset], continuity: ['token'], offset: 5 };
  return { applier: new Applier(services, 0, start, waiter), heard, calls };
}

describe('a partition that is told to wait', () => {
  it('asks again until it may go on, and does not wait any more then', async () => {
    const { applier, heard } = applierOf([
      { status: 'recovering' },
      { status: 'recovering' },
      APPLIED,
    ]);
    await applier.keepUp(5);
    expect(heard).toEqual(['moment', 'moment', 'over']);
  });

  it('waits no more when it is taken away, or has to start anew', async () => {
    const taken = new Error('taken away');
    const lost = applierOf([{ status: 'recovering' }], () => Promise.reject(taken));
    await expect(lost.applier.keepUp(5)).rejects.toBe(taken);
    const anew = applierOf([{ status: 'recovering' }, { status: 'storeChanged' }]);
    await expect(anew.applier.keepUp(5)).rejects.toBeInstanceOf(StoreChangedError);
    expect([lost.heard, anew.heard]).toEqual([
      ['moment', 'over'],
      ['moment', 'over'],
    ]);
  });
});

describe('the start of a partition', () => {
  it('moves a shard that is behind it, from the applied offset of the shard', async () => {
    const { applier, calls } = applierOf([APPLIED], undefined, 1);
    await applier.begin(5);
    expect(calls).toMatchObject([{ believed: 1, from: 2, through: 4, entries: [] }]);
  });

  it('moves no shard that has reached it', async () => {
    const { applier, calls } = applierOf([]);
    await applier.begin(5);
    expect(calls).toEqual([]);
  });

  it('fails when the live boards have changed, as one of them may need earlier events', async () => {
    const { applier } = applierOf([{ status: 'generationChanged' }], undefined, 1);
    await expect(applier.begin(5)).rejects.toThrow('the live boards changed');
  });
});

it('refuses a run that would skip events, naming both offsets', async () => {
  const { applier, calls } = applierOf([{ status: 'gap' }]);
  const run = { from: 5, nextOffset: 7, published: 0 };
  const applying = applier.apply([], run, () => Promise.resolve());
  await expect(applying).rejects.toThrow(AppliedGapError);
  await expect(applying).rejects.toThrow(/partition 0 from offset 5 on.*from offset 3 on/);
  expect(calls).toMatchObject([{ from: 5, through: 6, entries: [] }]);
});
