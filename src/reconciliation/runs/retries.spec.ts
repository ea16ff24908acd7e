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
  const helps = (policy: RestartPolicy, error: Error) => policy.waitAfter(error) !== undefined;

  it('allows six attempts for retriable errors, after waits that double up to five seconds', () => {
    const again = new RestartPolicy('build');
    for (const most of [500, 1_000, 2_000, 4_000, 5_000]) {
      const waitMs = again.waitAfter(lost);
      expect(waitMs).toBeLessThanOrEqual(most);
      expect(waitMs).toBeGreaterThanOrEqual(most / 2); // jitter
    }
    expect(again.waitAfter(lost)).toBeUndefined();
  });

  it('waits a minute for lost boards, however many attempts that takes', () => {
    let now = 0;
    const again = new RestartPolicy('build', () => now);
    expect(helps(again, lost)).toBe(true);
    for (now = 1_000; now <= 61_000; now += 1_000) {
      const error = now % 2_000 === 0 ? unknown : new BoardsLostError();
      expect(helps(again, error)).toBe(true);
    }
    expect(helps(again, new BoardsLostError())).toBe(false);
  });

  it('waits another minute if the boards were there in between', () => {
    let now = 0;
    const again = new RestartPolicy('verify', () => now);
    expect(helps(again, new BoardsLostError())).toBe(true);
    expect(helps(again, lost)).toBe(true);
    now = 100_000;
    expect(helps(again, unknown)).toBe(true);
  });

  it('does not wait for a board that was unknown in the first attempt', () => {
    expect(helps(new RestartPolicy('rollback'), unknown)).toBe(false);
  });

  it('begins a verify of several boards again after a cut of the log, to find out which boards lack events', () => {
    const cut = [{ partition: 0, from: 0, logStart: 5 }];
    const helpsWith = (boards: string[]) =>
      helps(new RestartPolicy('verify'), new HistoryCutError(boards, cut, true));
    expect([helpsWith(['arena', 'chess']), helpsWith(['arena'])]).toEqual([true, false]);
  });
});
