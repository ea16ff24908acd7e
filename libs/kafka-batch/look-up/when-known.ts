import { setTimeout as delay } from 'node:timers/promises';
import { isUnknownTopic } from '../kafkajs/kafka-errors.js';

const RETRY_PAUSE_MS = 200;

/** Repeats a request for a topic: brokers learn of a new topic one after the other. */
export function whenKnown<T>(request: () => Promise<T>, forMs = 10_000): Promise<T> {
  return repeatWhile(isUnknownTopic, request, forMs);
}

/** Repeats a request while it fails with a temporary error, for at most `forMs`. */
export async function repeatWhile<T>(
  isTemporary: (error: unknown) => boolean,
  request: () => Promise<T>,
  forMs: number,
): Promise<T> {
  const deadline = performance.now() + forMs;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isTemporary(error) || performance.now() >= deadline) throw error;
      await delay(RETRY_PAUSE_MS);
    }
  }
}
