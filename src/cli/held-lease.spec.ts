import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { LeaseHeldError, type ReconciliationStatus } from '#board-store';
import { CancelledError } from '../generations/errors.js';
import { withLease } from './held-lease.js';

const HERE = `${hostname()}:4711`;
const held = (holder: string) => new LeaseHeldError('arena', { holder, msLeft: 1 });
const status = (state: ReconciliationStatus['state']): ReconciliationStatus => ({
  ...{ board: 'arena', kind: 'verify', state, generation: 'g', holder: 'far:1' },
  ...{ done: 5, total: 10, rate: 1, secondsLeft: 5, startedAt: 0, updatedAt: 0 },
});

/** Fails with each of the errors, then answers how often it was tried. */
function work(...errors: Error[]) {
  let tries = 0;
  return () => {
    const error = errors[tries];
    tries += 1;
    return error === undefined ? Promise.resolve(tries) : Promise.reject(error);
  };
}

function waiting({
  statuses = [] as ReconciliationStatus[],
  isAlive = false,
  signal = new AbortController().signal,
} = {}) {
  return {
    leases: { statuses: () => Promise.resolve(statuses) },
    signal,
    isAlive: (pid: number) => pid !== 4711 || isAlive,
  };
}

describe('withLease', () => {
  it('waits once for what a process of this machine has left behind', async () => {
    expect(await withLease(work(held(HERE)), waiting())).toBe(2);
    await expect(withLease(work(held(HERE), held(HERE)), waiting())).rejects.toMatchObject({
      exitCode: 3,
    });
  });

  it('refuses at once while that process runs, or where the holder is on another machine', async () => {
    await expect(withLease(work(held(HERE)), waiting({ isAlive: true }))).rejects.toThrow(HERE);
    await expect(withLease(work(held('far:4711')), waiting())).rejects.toThrow('far:4711');
  });

  it('tells what the holder does, and since when', async () => {
    const refusal = withLease(work(held('far:1')), waiting({ statuses: [status('running')] }));
    await expect(refusal).rejects.toThrow(
      /It is a verify, since 1970-01-01T00:00:00\.000Z, at 5 of 10 records$/,
    );
    const untold = withLease(work(held('far:1')), waiting({ statuses: [status('done')] }));
    await expect(untold).rejects.toThrow(/within 1 s$/);
  });

  it('ends its waiting with the signal', async () => {
    const asked = new AbortController();
    const left = new LeaseHeldError('arena', { holder: HERE, msLeft: 60_000 });
    const waited = withLease(work(left), waiting({ signal: asked.signal }));
    asked.abort(new CancelledError(false));
    await expect(waited).rejects.toBeInstanceOf(CancelledError);
  });

  it('passes on any other failure', async () => {
    await expect(withLease(work(new Error('odd')), waiting())).rejects.toThrow('odd');
  });
});
