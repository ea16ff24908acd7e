import { setTimeout as delay } from 'node:timers/promises';
import { isOutOfMemory, LeaseLostError } from '#board-store';
import { Backoff, toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';

/** How long Redis may be away, and its boards when it was emptied. */
export const RETRY_FOR_MS = 60_000;
const BACKOFF = { firstMs: 50, mostMs: 2_000 };

/**
 * The work, tried again while it fails, for a minute at most; the first failure is told. Only for work that may be repeated.
 * @throws LeaseLostError, and the refusal of a Redis that is full, at once; the reason of the signal, or the last failure
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<T> {
  const backoff = new Backoff(BACKOFF);
  let failedAt: number | undefined;
  for (;;)
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LeaseLostError || isOutOfMemory(error)) throw error;
      const now = performance.now();
      if (failedAt === undefined) logger.warn(`tried again: ${toError(error).message}`);
      failedAt ??= now;
      if (now - failedAt > RETRY_FOR_MS) throw error;
      await delay(backoff.next(), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted(); // the reason, which tells whether it helps to begin again
    }
}
