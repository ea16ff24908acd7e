import { describe, expect, it } from '@jest/globals';
import { UnknownBoardError } from '#board-store';
import { RestartPolicy } from './restart-policy.js';
import { BoardsLostError, HistoryCutError, ShadowLostError } from './errors.js';

const lost = new ShadowLostError('arena');
const unknown = new UnknownBoardError('arena', []);

describe('whether a run begins again', () => {
  it('counts failures that the next attempt does away with', () => {
    const again = new RestartPolicy('build');
    const helps = Array.from({ length: 6 }, () => again.helps(lost));
    expect(helps).toEqual([true, true, true, true, true, false]);
  });

  it('waits a minute for boards that Redis has lost, however often it looks', () => {
    let now = 0;
    const again = new RestartPolicy('build', () => now);
    expect(again.helps(lost)).toBe(true);
    for (now = 1_000; now <= 61_000; now += 1_000) {
      const error = now % 2_000 === 0 ? unknown : new BoardsLostError();
      expect(again.helps(error)).toBe(true);
    }
    expect(again.helps(new BoardsLostError())).toBe(false);
  });

  it('waits anew when they were there in between', () => {
    let now = 0;
    const again = new RestartPolicy('verify', () => now);
    expect(again.helps(new BoardsLostError())).toBe(true);
    expect(again.helps(lost)).toBe(true);
    now = 100_000;
    expect(again.helps(unknown)).toBe(true);
  });

  it('does not wait for a board that was not there when it began', () => {
    expect(new RestartPolicy('rollback').helps(unknown)).toBe(false);
  });

  it('finds out which of several boards lack what was cut while they were verified', () => {
    const cut = [{ partition: 0, from: 0, logStart: 5 }];
    const helps = (boards: string[]) =>
      new RestartPolicy('verify').helps(new HistoryCutError(boards, cut, true));
    expect([helps(['arena', 'chess']), helps(['arena'])]).toEqual([true, false]);
  });
});
