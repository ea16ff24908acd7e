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

/** A committed record with its partition. */
export type ReadRecord = KafkaRecord & { readonly partition: number };

/** All committed records of a topic, read with a kafkajs consumer. */
export async function readCommitted(kafka: Kafka, topic: string): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  await eachCommitted(kafka, topic, (record) => records.push(record));
  return records;
}

/** Reads the records one by one, for large topics. */
export async function eachCommitted(
  kafka: Kafka,
  topic: string,
  take: (record: ReadRecord) => void,
): Promise<void> {
  const missing = await lastOffsets(kafka, topic);
  if (missing.size === 0) return;
  const consumer = kafka.consumer({
    groupId: `read-${randomUUID()}`,
    readUncommitted: false,
    maxWaitTimeInMs: 10, // `disconnect` waits for the fetch that follows the last record
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
    await until(() => missing.size === 0, `all of ${topic} is read`, READ_TIMEOUT_S);
  } finally {
    await consumer.disconnect();
  }
}

const READ_TIMEOUT_S = 300;

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

/** Committed rank changes, in order within a partition. */
export async function readRankChanges(kafka: Kafka, topics: TopicNames): Promise<RankChange[]> {
  return (await readCommitted(kafka, topics.rankChanges)).map((record) => decodeRankChange(record));
}

/** Committed leader changes, in order within a partition. */
export async function readLeaderChanges(kafka: Kafka, topics: TopicNames): Promise<LeaderChange[]> {
  return (await readCommitted(kafka, topics.leaderChanges)).map((record) =>
    decodeLeaderChange(record),
  );
}

/** Committed dead letters, each with its own record in the dead-letter topic (`record`). */
export async function readDeadLetters(kafka: Kafka, topics: TopicNames) {
  return (await readCommitted(kafka, topics.deadLetters)).map((record) => {
    const letter = decodeDeadLetter(record);
    if (letter === undefined) throw new Error(`not a dead letter: offset ${record.offset}`);
    return { ...letter, record };
  });
}

/**
 * How long the console consumer waits for the next record, in ms: longer in each try, for a busy
 * machine.
 */
const CONSOLE_TIMEOUTS_MS = [3_000, 15_000, 45_000];

/**
 * The headers of all committed results of some topics, one line of Kafka's console consumer for
 * each result. `expected` is how many results the topics have: if the consumer found fewer, it
 * reads again and waits longer.
 */
export async function consoleHeaders(
  topics: readonly string[],
  expected: number | Promise<number>,
  broker = process.env['KAFKA_BROKERS'],
): Promise<readonly string[]> {
  let found: readonly string[] = [];
  for (const timeoutMs of CONSOLE_TIMEOUTS_MS) {
    const { stdout } = await run(
      process.execPath,
      [
        ...['scripts/services.mjs', 'kafka-tool', 'console-consumer'],
        ...['--include', topics.join('|').replaceAll('.', '\\.'), '--from-beginning'],
        ...['--isolation-level', 'read_committed', '--timeout-ms', String(timeoutMs)],
        ...['--property', 'print.headers=true', '--property', 'print.value=false'],
      ],
      { maxBuffer: 2 ** 28, env: { ...process.env, KAFKA_BROKERS: broker } },
    );
    found = stdout.split('\n').filter((line) => idIn(line) !== undefined);
    if (found.length >= (await expected)) break;
  }
  return found;
}

/**
 * The id of a result in its headers: `topic/partition/offset` of the record that caused the result,
 * and for a leader change the view. A dead letter also has the headers of the bad record, among
 * them perhaps another `ce_id`.
 */
export function idIn(headers: string): string | undefined {
  const idOf = (header: string) => new RegExp(`(?:^|,)${header}:([^,\t]+)`).exec(headers)?.[1];
  return idOf('ranklog_id') ?? idOf('ce_id');
}

/**
 * The ids of all committed results of a topic, as Kafka's console consumer reads them; `expected`
 * is how many there are.
 */
export async function consoleConsumerIds(topic: string, expected: number): Promise<string[]> {
  const headers = await consoleHeaders([topic], expected);
  return headers.map((line) => idIn(line) ?? '');
}

/** `topic/partition/offset` of the score event of a result. */
export function causeOf({ source }: Pick<RankChange, 'source'>): string {
  return `${source.topic}/${source.partition}/${source.offset}`;
}

/**
 * Describes each rank change whose `before` differs from the `after` of the player's previous rank
 * change in the same view and epoch; none for correct results. An epoch is the time during which
 * one definition of the board was live: in a new epoch, the first rank change of a player may begin
 * with any columns. By default, all rank changes are in one epoch.
 */
export function brokenChains(
  changes: readonly RankChange[],
  epochOf: (change: RankChange) => number = () => 0,
): string[] {
  const last = new Map<string, { readonly epoch: number; readonly columns: string }>();
  const broken: string[] = [];
  for (const change of changes) {
    const epoch = epochOf(change);
    for (const { view, before, after } of change.changes) {
      const chain = `${change.board}/${change.playerId}/${view}`;
      const previous = last.get(chain) ?? { epoch: 0, columns: 'null' };
      const found = JSON.stringify(before?.columns ?? null);
      if (previous.epoch === epoch && found !== previous.columns)
        broken.push(`${chain} at ${causeOf(change)}: ${previous.columns} then ${found}`);
      last.set(chain, { epoch, columns: JSON.stringify(after?.columns ?? null) });
    }
  }
  return broken;
}
