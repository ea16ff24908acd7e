import { describe, expect, it } from '@jest/globals';
import type { ApplyOutcome, BoardStore, Boards } from '#board-store';
import type { WaitReason } from '../operations/waiting.js';
import { Applier } from './applier.js';
import type { LiveBoards } from './live-boards.js';
import { StoreChangedError } from './losses.js';

const APPLIED: ApplyOutcome = { status: 'applied', watermark: 4, verdicts: [] };
const NO_BOARDS: Boards = {
  live: new Map(),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

/** An applier whose store answers this, one after the other, and what its waiter hears. */
function applierOf(answers: ApplyOutcome[], moment: () => Promise<void> = () => Promise.resolve()) {
  const heard: (WaitReason | 'over')[] = [];
  const store = { shards: 1, apply: () => Promise.resolve(answers.shift()) };
  const services = {
    store: store as unknown as BoardStore,
    boards: { current: NO_BOARDS } as unknown as LiveBoards,
  };
  const waiter = {
    moment: (reason: WaitReason) => {
      heard.push(reason);
      return moment();
    },
    over: () => {
      heard.push('over');
    },
  };
  const start = { watermarks: [4], continuity: ['token'], offset: 5 };
  return { applier: new Applier(services, 0, start, waiter), heard };
}

describe('a partition that is told to wait', () => {
  it('asks again until it may go on, and does not wait any more then', async () => {
    const { applier, heard } = applierOf([
      { status: 'healing' },
      { status: 'watermarkMoved' },
      { status: 'watermarkMoved' },
      APPLIED,
    ]);
    await applier.keepUp(5);
    expect(heard).toEqual(['healing', 'watermarkMoved', 'watermarkMoved', 'over']);
  });

  it('waits no more when it is taken away, or has to start anew', async () => {
    const taken = new Error('taken away');
    const lost = applierOf([{ status: 'healing' }], () => Promise.reject(taken));
    await expect(lost.applier.keepUp(5)).rejects.toBe(taken);
    const anew = applierOf([{ status: 'healing' }, { status: 'storeChanged' }]);
    await expect(anew.applier.keepUp(5)).rejects.toBeInstanceOf(StoreChangedError);
    expect([lost.heard, anew.heard]).toEqual([
      ['healing', 'over'],
      ['healing', 'over'],
    ]);
  });
});
