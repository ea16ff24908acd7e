import type { Waiter } from '../../src/ingest/partition-waits.js';

/** Of a partition that has nothing to wait for. */
export const NEVER_WAITS: Waiter = {
  moment: () => Promise.reject(new Error('it waits')),
  over: () => undefined,
};
