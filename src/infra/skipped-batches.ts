import type { Kafka } from 'kafkajs';
import { decodeSkippedBatch, type SkippedBatch } from '#contracts';
import { isUnknownTopic, passOver } from '#kafka-batch';
import { definitionsLog, definitionsRanges } from './definitions-log.js';
import type { KafkaConnection } from './kafka.js';

type Clients = Pick<KafkaConnection, 'kafka' | 'topics'>;

/** By client: the batches that were given up at the time of the first call. */
const skippedBatches = new WeakMap<Kafka, Promise<SkippedBatch[]>>();

/**
 * Makes all readers of this process skip the batches that `ranklog skip` has given up, and returns
 * them. Every process must call it before it reads the score topic: otherwise a version that can
 * read such a batch would build other boards than a version that can't.
 * Cost: the first call reads the definitions topic.
 */
export function passOverSkipped(clients: Clients): Promise<SkippedBatch[]> {
  const { kafka } = clients;
  const skipped = skippedBatches.get(kafka) ?? readSkipped(clients);
  skippedBatches.set(kafka, skipped);
  return skipped;
}

async function readSkipped(clients: Clients): Promise<SkippedBatch[]> {
  const { kafka, topics } = clients;
  const skipped: SkippedBatch[] = [];
  try {
    const ranges = await definitionsRanges(clients);
    for await (const { record } of definitionsLog(kafka, topics.definitions, ranges)) {
      const batch = decodeSkippedBatch(record);
      if (batch !== undefined) skipped.push(batch);
    }
  } catch (error) {
    if (!isUnknownTopic(error)) throw error; // without the topic, nothing was given up
  }
  passOver(skipped.map((batch) => ({ topic: topics.scoreEvents, ...batch })));
  return skipped;
}
