import type { Kafka } from 'kafkajs';
import { decodeSkippedBatch, type SkippedBatch } from '#contracts';
import { isUnknownTopic, passOver } from '#kafka-batch';
import { definitionsLog, definitionsRanges } from './definitions-log.js';
import type { KafkaConnection } from './kafka.js';

type Clients = Pick<KafkaConnection, 'kafka' | 'topics'>;

/** Of each client, the batches that were given up when it was asked first. */
const skippedBatches = new WeakMap<Kafka, Promise<SkippedBatch[]>>();

/**
 * Makes all readers of this process pass over the batches that were given up by `ranklog skip`.
 * Every process calls it before it reads the score topic: otherwise a version that can read such a
 * batch would build other boards than one that can't. Returns these batches. Cost: the first call
 * reads the definitions topic.
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
