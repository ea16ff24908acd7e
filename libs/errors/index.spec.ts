import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { toError } from './index.js';

describe('toError', () => {
  it('returns an error as it is, also one of another realm', () => {
    const own = new TypeError('own');
    const foreign: unknown = runInNewContext('new TypeError("foreign")');
    const aborted: unknown = AbortSignal.abort().reason;
    expect(foreign).not.toBeInstanceOf(Error);
    expect(aborted).not.toBeInstanceOf(Error);
    for (const error of [own, foreign, aborted]) expect(toError(error)).toBe(error);
  });

  it.each([
    ['text', 'text'],
    [7, '7'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ message: 'no name' }, '[object Object]'],
  ])('makes an error of %j', (thrown, message) => {
    expect(toError(thrown)).toEqual(new Error(message));
  });
});
