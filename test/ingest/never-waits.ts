import type { Waiter } from '../../src/ingest/partition-waits.js';

/** The waiter of a partition that must not wait. */
export const NEVER_WAITS: Waiter = {
  wait: () => Promise.reject(new Error('it waits')),
  done: () => undefined,
};
