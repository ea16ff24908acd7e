import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Kafka } from 'kafkajs';
import {
  decodeDeadLetter,
  decodeLeaderChange,
  decodeRankChange,
  type LeaderChange,
  type RankChange,
  type TopicNames,
} from '#contracts';
import { lastCommittedRecord, type KafkaRecord } from '#kafka-batch';
import { until } from './instance.js';

const run = promisify(execFile);

/** A committed record and the partition it is in. */
export type ReadRecord = KafkaRecord & { readonly partition: number };

/** All committed records of a topic, as a read_committed kafkajs consumer gets them. */
export async function readCommitted(kafka: Kafka, topic: string): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  await eachCommitted(kafka, topic, (record) => records.push(record));
  return records;
}

/** The same, one by one: for topics that are too large to hold. */
export async function eachCommitted(
  kafka: Kafka,
  topic: string,
  take: (record: ReadRecord) => void,
): Promise<void> {
  const missing = await lastOffsets(kafka, topic);
  const consumer = kafka.consumer({
    groupId: `read-${randomUUID()}`,
    readUncommitted: false,
    maxWaitTimeInMs: 100,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ partition, message }) => {
      const { key, value, headers = {} } = message;
      const offset = Number(message.offset);
      take({ partition, offset, timestamp: Number(message.timestamp), key, value, headers });
      if (missing.get(partition) === offset) missing.delete(partition);
      return Promise.resolve();
    },
  });
  try {
    await until(() => missing.size === 0, `all of ${topic} is read`, MOST_SECONDS_TO_READ);
  } finally {
    await consumer.disconnect();
  }
}

const MOST_SECONDS_TO_READ = 300;

/** The offset of the last committed record of each partition that has one. */
async function lastOffsets(kafka: Kafka, topic: string): Promise<Map<number, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition }) => partition);
  await admin.disconnect();
  const last = await Promise.all(
    partitions.map(
      async (partition) => [partition, await lastCommittedRecord(kafka, topic, partition)] as const,
    ),
  );
  return new Map(
    last.flatMap(([partition, record]) =>
      record === undefined ? [] : [[partition, record.offset]],
    ),
  );
}

/** Committed rank changes, in the order of their partitions' logs. */
export async function readRankChanges(kafka: Kafka, topics: TopicNames): Promise<RankChange[]> {
  return (await readCommitted(kafka, topics.rankChanges)).map((record) => decodeRankChange(record));
}

/** Committed leader changes, in the order of their partitions' logs. */
export async function readLeaderChanges(kafka: Kafka, topics: TopicNames): Promise<LeaderChange[]> {
  return (await readCommitted(kafka, topics.leaderChanges)).map((record) =>
    decodeLeaderChange(record),
  );
}

/** Committed dead letters: what ranklog says of each, and the record. */
export async function readDeadLetters(kafka: Kafka, topics: TopicNames) {
  return (await readCommitted(kafka, topics.deadLetters)).map((record) => {
    const letter = decodeDeadLetter(record);
    if (letter === undefined) throw new Error('a record of the dead letter topic is none');
    return { ...letter, record };
  });
}

/** How long the console consumer waits for another record before it ends, in ms; longer where it was too busy to read all. */
const CONSOLE_PATIENCE = [3_000, 15_000, 45_000];

/** What Kafka's own console consumer prints, given its patience; read with more of it while less is there than is `expected`. */
export async function readWithRetries<T>(
  expected: number,
  read: (patience: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  let found: readonly T[] = [];
  for (const patience of CONSOLE_PATIENCE) {
    found = await read(patience);
    if (found.length >= expected) break;
  }
  return found;
}

/** CloudEvents ids of all committed records of a topic, as Kafka's own console consumer prints them; `expected` is their number. */
export function consoleConsumerIds(topic: string, expected: number): Promise<readonly string[]> {
  return readWithRetries(expected, async (patience) => {
    const { stdout } = await run(
      process.execPath,
      [
        ...['scripts/services.mjs', 'kafka-tool', 'console-consumer'],
        ...['--topic', topic, '--from-beginning', '--isolation-level', 'read_committed'],
        ...['--timeout-ms', String(patience)],
        ...['--property', 'print.headers=true', '--property', 'print.value=false'],
      ],
      { maxBuffer: 2 ** 28 },
    );
    return [...stdout.matchAll(/(?:ce_id|ranklog_id):([^,\t\n]+)/g)].map(([, id]) => id ?? '');
  });
}

/** `topic/partition/offset` of what a result stems from. */
export function causeOf({ source }: Pick<RankChange, 'source'>): string {
  return `${source.topic}/${source.partition}/${source.offset}`;
}

/**
 * Where a player's rank changes do not fit together: in a view, `before` must be what `after` of the one before was.
 * Empty when all do.
 */
export function brokenChains(changes: readonly RankChange[]): string[] {
  const last = new Map<string, string>();
  const broken: string[] = [];
  for (const change of changes)
    for (const { view, before, after } of change.changes) {
      const chain = `${change.board}/${change.playerId}/${view}`;
      const expected = last.get(chain) ?? 'null';
      const found = JSON.stringify(before?.columns ?? null);
      if (found !== expected)
        broken.push(`${chain} at ${causeOf(change)}: ${expected} then ${found}`);
      last.set(chain, JSON.stringify(after?.columns ?? null));
    }
  return broken;
}
