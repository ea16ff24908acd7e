import type { RetryOptions } from 'kafkajs';

/** The coordinator finishes the transaction before in the background: it is asked again so soon. */
export const BUSY_WAIT_MS = 20;

/** For about 15 s, the time after which a transaction is aborted. Complete: kafkajs has other defaults under NODE_ENV=test. */
export const BUSY_RETRY: RetryOptions = {
  initialRetryTime: BUSY_WAIT_MS,
  maxRetryTime: 1_000,
  factor: 0.2,
  multiplier: 2,
  retries: 20,
};
