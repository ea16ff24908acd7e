import { setTimeout as delay } from 'node:timers/promises';
import { isUnknownTopic } from '../kafkajs/kafka-errors.js';

const RETRY_PAUSE_MS = 200;

/** Repeats a request for a topic: brokers learn of a new topic one after the other. */
export function whenKnown<T>(request: () => Promise<T>, forMs = 10_000): Promise<T> {
  return repeatWhile(isUnknownTopic, request, forMs);
}

/** Repeats a request as long as it fails with an error that ends by itself, for a limited time. */
export async function repeatWhile<T>(
  isPassing: (error: unknown) => boolean,
  request: () => Promise<T>,
  forMs: number,
): Promise<T> {
  const deadline = performance.now() + forMs;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isPassing(error) || performance.now() >= deadline) throw error;
      await delay(RETRY_PAUSE_MS);
    }
  }
}
