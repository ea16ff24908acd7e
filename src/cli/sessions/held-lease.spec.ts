import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { LeaseHeldError } from '#board-store';
import { CancelledError } from '../../reconciliation/runs/run-errors.js';
import { exitCodeOf } from '../text/failures.js';
import { withLease } from './held-lease.js';

const HERE = `${hostname()}:4711`;
const held = (holder: string) => new LeaseHeldError('arena', holder, 1);

/**
 * Work that fails with each of the errors in turn, then returns the number of tries, including the
 * last.
 */
function work(...errors: Error[]) {
  let tries = 0;
  return () => {
    const error = errors[tries];
    tries += 1;
    return error === undefined ? Promise.resolve(tries) : Promise.reject(error);
  };
}

const { signal } = new AbortController();
const noneAlive = () => false;

describe('withLease', () => {
  it('waits once for the lease of a dead process of this machine', async () => {
    expect(await withLease(work(held(HERE)), signal, noneAlive)).toBe(2);
    const refused = withLease(work(held(HERE), held(HERE)), signal, noneAlive);
    expect(await refused.catch(exitCodeOf)).toBe(3);
  });

  it('refuses if the holder runs on this machine, or is on another one', async () => {
    await expect(withLease(work(held(HERE)), signal, () => true)).rejects.toThrow(HERE);
    await expect(withLease(work(held('far:4711')), signal, noneAlive)).rejects.toThrow('far:4711');
  });

  it('stops waiting when the signal is aborted', async () => {
    const cancellation = new AbortController();
    const left = new LeaseHeldError('arena', HERE, 60_000);
    const waited = withLease(work(left), cancellation.signal, noneAlive);
    cancellation.abort(new CancelledError(false));
    await expect(waited).rejects.toBeInstanceOf(CancelledError);
  });

  it('rethrows other errors', async () => {
    await expect(withLease(work(new Error('odd')), signal)).rejects.toThrow('odd');
  });
});
