import { setTimeout as delay } from 'node:timers/promises';
import { ScoreProducer } from '#client';
import { toError } from '#errors';
import { openKafka, whenClosed } from '../sessions/kafka-session.js';
import { sampleEvent } from './starter.js';

const INTERVAL_MS = 500;

/** Sends a sample event every half second until the signal is aborted. */
export async function sendSampleEvents(signal: AbortSignal): Promise<void> {
  await using session = await openKafka();
  const { kafka, logger } = session;
  const { topicPrefix } = session.settings;
  const producer = new ScoreProducer({ kafka, topicPrefix, source: '/ranklog/dev' });
  try {
    for (;;) {
      await producer.send(sampleEvent());
      await delay(INTERVAL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) logger.warn(`no more sample events: ${toError(error).message}`);
  } finally {
    await whenClosed(producer.disconnect(), logger);
  }
}
