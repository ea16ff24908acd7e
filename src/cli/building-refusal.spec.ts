import { describe, expect, it } from '@jest/globals';
import { BoardBuildingError, type ReconciliationStatus } from '#board-store';
import { buildingRefusal } from './building-refusal.js';

const RUN: ReconciliationStatus = {
  ...{ board: 'arena', kind: 'build', state: 'running', generation: 'g', holder: 'host:1' },
  ...{ done: 4_000, total: 10_000, rate: 100, secondsLeft: 60, startedAt: 0, updatedAt: 0 },
};
const refusal = (...statuses: ReconciliationStatus[]) =>
  buildingRefusal(new BoardBuildingError('arena'), statuses);

describe('the refusal to read a board that is being built', () => {
  it('tells who builds it, and how long that takes', () => {
    expect(refusal(RUN)).toMatchObject({
      exitCode: 1,
      message:
        'board "arena" can\'t be read yet: host:1 builds it from the log, 4,000 of 10,000 records, about 60 s left',
    });
    expect(refusal({ ...RUN, secondsLeft: null }).message).toMatch(/of 10,000 records$/);
  });

  it('says what it knows where nobody is at it', () => {
    const { message } = new BoardBuildingError('arena');
    expect(refusal({ ...RUN, state: 'failed' }).message).toBe(message);
    expect(refusal({ ...RUN, board: 'other' }).message).toBe(message);
  });
});
