import { describe, expect, it } from '@jest/globals';
import { LeaseLostError } from '#board-store';
import { loggerTo } from '../../test/support/loggers.js';
import { withRetries } from './with-retries.js';

const words: string[] = [];
const logger = loggerTo((word) => words.push(word));
const away = () => Promise.reject(new Error('Redis is away'));

describe('work that is tried again', () => {
  it('ends with the reason of the signal, also while it waits for the next time', async () => {
    const stopping = new AbortController();
    words.length = 0;
    const ended = withRetries(away, { signal: stopping.signal, logger });
    ended.catch(() => undefined); // awaited below
    await new Promise(setImmediate); // it has failed once, and waits
    stopping.abort(new LeaseLostError('arena'));
    await expect(ended).rejects.toThrow(LeaseLostError);
    expect(words).toEqual(['tried again: Redis is away']);
  });

  it('is tried no more where Redis is full, so that what fills it is given up', async () => {
    words.length = 0;
    const { signal } = new AbortController();
    const full = () =>
      Promise.reject(new Error("OOM command not allowed when used memory > 'maxmemory'."));
    await expect(withRetries(full, { signal, logger })).rejects.toThrow('OOM');
    expect(words).toEqual([]);
  });

  it('goes on once it succeeds', async () => {
    let tries = 0;
    const work = () => (++tries < 3 ? away() : Promise.resolve(tries));
    const { signal } = new AbortController();
    expect(await withRetries(work, { signal, logger })).toBe(3);
  });
});
