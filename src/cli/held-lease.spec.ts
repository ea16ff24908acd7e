import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { BoardBuildingError, LeaseHeldError, type ReconciliationStatus } from '#board-store';
import { CancelledError } from '../generations/errors.js';
import { buildingRefusal, withLease } from './held-lease.js';

const HERE = `${hostname()}:4711`;
const held = (holder: string) => new LeaseHeldError('arena', { holder, msLeft: 1 });
const status = (state: ReconciliationStatus['state']): ReconciliationStatus => ({
  ...{ board: 'arena', kind: 'verify', state, generation: 'g', holder: 'far:1' },
  ...{ done: 5, total: 10, rate: 1, secondsLeft: 5, startedAt: 0, updatedAt: 0 },
});

/** Work that fails with each of the errors in turn, then returns the number of tries, including the last. */
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
  it('waits once for the lease of a dead process of this machine', async () => {
    expect(await withLease(work(held(HERE)), waiting())).toBe(2);
    await expect(withLease(work(held(HERE), held(HERE)), waiting())).rejects.toMatchObject({
      exitCode: 3,
    });
  });

  it('refuses if the holder runs on this machine, or is on another one', async () => {
    await expect(withLease(work(held(HERE)), waiting({ isAlive: true }))).rejects.toThrow(HERE);
    await expect(withLease(work(held('far:4711')), waiting())).rejects.toThrow('far:4711');
  });

  it('says what the holder runs and since when', async () => {
    const refusal = withLease(work(held('far:1')), waiting({ statuses: [status('running')] }));
    await expect(refusal).rejects.toThrow(
      /That process runs a verify since 1970-01-01T00:00:00\.000Z, at 5 of 10 records$/,
    );
    const idle = withLease(work(held('far:1')), waiting({ statuses: [status('done')] }));
    await expect(idle).rejects.toThrow(/within 1 s$/);
  });

  it('stops waiting when the signal is aborted', async () => {
    const cancellation = new AbortController();
    const left = new LeaseHeldError('arena', { holder: HERE, msLeft: 60_000 });
    const waited = withLease(work(left), waiting({ signal: cancellation.signal }));
    cancellation.abort(new CancelledError(false));
    await expect(waited).rejects.toBeInstanceOf(CancelledError);
  });

  it('rethrows other errors', async () => {
    await expect(withLease(work(new Error('odd')), waiting())).rejects.toThrow('odd');
  });
});

const RUN: ReconciliationStatus = {
  ...{ board: 'arena', kind: 'build', state: 'running', generation: 'g', holder: 'host:1' },
  ...{ done: 4_000, total: 10_000, rate: 100, secondsLeft: 60, startedAt: 0, updatedAt: 0 },
};
const refusal = (...statuses: ReconciliationStatus[]) =>
  buildingRefusal(new BoardBuildingError('arena'), statuses);

describe('buildingRefusal', () => {
  it('shows who builds the board, the progress and the time left', () => {
    expect(refusal(RUN)).toMatchObject({
      exitCode: 1,
      message:
        'board "arena" can\'t be read yet: host:1 builds it, 4,000 of 10,000 records, about 60 s left',
    });
    expect(refusal({ ...RUN, secondsLeft: null }).message).toMatch(/of 10,000 records$/);
  });

  it('shows no progress while no build of the board runs', () => {
    const { message } = new BoardBuildingError('arena');
    expect(refusal({ ...RUN, state: 'failed' }).message).toBe(message);
    expect(refusal({ ...RUN, board: 'other' }).message).toBe(message);
  });
});
