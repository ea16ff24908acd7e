import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, UnknownBoardError } from '#board-store';
import { loggerTo } from '../../../test/support/loggers.js';
import { RestartPolicy, withRetries } from './retries.js';
import { BoardsLostError, HistoryCutError, RestartError } from './run-errors.js';

const warnings: string[] = [];
const logger = loggerTo((text) => warnings.push(text));
const unreachable = () => Promise.reject(new Error('Redis is away'));

describe('withRetries', () => {
  it('throws the reason of the signal, also during a wait', async () => {
    const stopping = new AbortController();
    warnings.length = 0;
    const ended = withRetries(unreachable, { signal: stopping.signal, logger });
    ended.catch(() => undefined); // awaited below
    await new Promise(setImmediate); // it has failed once, and waits
    stopping.abort(new LeaseLostError('arena'));
    await expect(ended).rejects.toThrow(LeaseLostError);
    expect(warnings).toEqual(['retrying after: Redis is away']);
  });

  it('does not retry when Redis is full', async () => {
    warnings.length = 0;
    const { signal } = new AbortController();
    const full = () =>
      Promise.reject(new Error("OOM command not allowed when used memory > 'maxmemory'."));
    await expect(withRetries(full, { signal, logger })).rejects.toThrow('OOM');
    expect(warnings).toEqual([]);
  });

  it('retries until the work succeeds, and returns its result', async () => {
    let tries = 0;
    const work = () => (++tries < 3 ? unreachable() : Promise.resolve(tries));
    const { signal } = new AbortController();
    expect(await withRetries(work, { signal, logger })).toBe(3);
  });
});

const lost = new RestartError('the shadow is gone');
const unknown = new UnknownBoardError('arena', []);

describe('RestartPolicy', () => {
  it('allows six attempts for retriable errors', () => {
    const again = new RestartPolicy('build');
    const helps = Array.from({ length: 6 }, () => again.helps(lost));
    expect(helps).toEqual([true, true, true, true, true, false]);
  });

  it('waits a minute for lost boards, however many attempts that takes', () => {
    let now = 0;
    const again = new RestartPolicy('build', () => now);
    expect(again.helps(lost)).toBe(true);
    for (now = 1_000; now <= 61_000; now += 1_000) {
      const error = now % 2_000 === 0 ? unknown : new BoardsLostError();
      expect(again.helps(error)).toBe(true);
    }
    expect(again.helps(new BoardsLostError())).toBe(false);
  });

  it('waits another minute if the boards were there in between', () => {
    let now = 0;
    const again = new RestartPolicy('verify', () => now);
    expect(again.helps(new BoardsLostError())).toBe(true);
    expect(again.helps(lost)).toBe(true);
    now = 100_000;
    expect(again.helps(unknown)).toBe(true);
  });

  it('does not wait for a board that was unknown in the first attempt', () => {
    expect(new RestartPolicy('rollback').helps(unknown)).toBe(false);
  });

  it('begins a verify of several boards again after a cut of the log, to find out which boards lack events', () => {
    const cut = [{ partition: 0, from: 0, logStart: 5 }];
    const helps = (boards: string[]) =>
      new RestartPolicy('verify').helps(new HistoryCutError(boards, cut, true));
    expect([helps(['arena', 'chess']), helps(['arena'])]).toEqual([true, false]);
  });
});
