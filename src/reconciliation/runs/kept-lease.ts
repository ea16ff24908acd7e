import { LEASE_MS, type Lease, type LeaseStore } from '#board-store';
import { RecurringTask } from '../../infra/recurring-task.js';

/** A lease that is renewed until `asyncDispose` releases it. */
export interface KeptLease extends AsyncDisposable {
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal;
}

/** Begins to renew a lease. `signal` also aborts the signal of the result. */
export function keepLease(leases: LeaseStore, lease: Lease, signal: AbortSignal): KeptLease {
  const lost = new AbortController();
  const renew = () => leases.renew(lease).catch((error: unknown) => lost.abort(error));
  const renewal = new RecurringTask(renew, LEASE_MS / 5);
  renewal.start();
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    [Symbol.asyncDispose]: async () => {
      await renewal.stop();
      await leases.release(lease).catch(() => undefined); // it expires
    },
  };
}
