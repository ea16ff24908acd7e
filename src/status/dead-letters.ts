import type { Admin, Kafka } from 'kafkajs';
import { decodeDeadLetter, formatTime } from '#contracts';
import { lastRecords, logEnds } from '#kafka-batch';

/** How many of the last offsets of each partition are read. */
const MOST_OFFSETS = 1_000;

/** The dead letters of one code. Times are those of publishing, as RFC 3339. */
export interface DeadLetterCount {
  readonly code: string;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Of the last one. */
  readonly detail: string;
}

/** Counts the last dead letters by code, the most frequent ones first. Cost: a connection, ten fetches of 1 MiB a partition. */
export async function countDeadLetters(
  { kafka, admin }: { kafka: Kafka; admin: Admin },
  topic: string,
): Promise<DeadLetterCount[]> {
  const partitions = [...(await logEnds(admin, topic)).keys()];
  const records = await Promise.all(
    partitions.map((partition) => lastRecords(kafka, topic, partition, MOST_OFFSETS)),
  );
  const counts = new Map<string, DeadLetterCount>();
  for (const record of records.flat().sort((one, other) => one.timestamp - other.timestamp)) {
    const letter = decodeDeadLetter(record);
    if (letter === undefined) continue;
    const { code, detail } = letter;
    const lastAt = formatTime(record.timestamp);
    const { count, firstAt } = counts.get(code) ?? { count: 0, firstAt: lastAt };
    counts.set(code, { code, count: count + 1, firstAt, lastAt, detail });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
}
