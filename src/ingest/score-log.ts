import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { RecordIdentity } from '#board-store';
import {
  Batched,
  LogEndsError,
  logRanges,
  OtherLogError,
  partitionCount,
  recordAt,
  type KafkaRecord,
  type LogRange,
} from '#kafka-batch';
import { TopicsMissingError } from '../operations/topics.js';

/** How often, and after which pause, a record is read that a partition does not show. */
const MOST_LOOKS = 5;
const LOOK_AGAIN_MS = 200;

/** What a record is known by when it is read again: 64 bits of the hash of key and value. */
export function identityOf({ offset, timestamp, key, value }: KafkaRecord): RecordIdentity {
  const hash = createHash('sha256')
    .update(`${key?.length ?? -1} ${value?.length ?? -1}\n`)
    .update(key ?? '')
    .update(value ?? '')
    .digest('hex');
  return { offset, timestamp, hash: hash.slice(0, 16) };
}

/** Whether a record of the log is the one that was applied. */
export function isSameRecord(found: KafkaRecord | undefined, applied: RecordIdentity): boolean {
  const identity = found && identityOf(found);
  return identity?.timestamp === applied.timestamp && identity.hash === applied.hash;
}

/** The score topic, beside what the consumer reads of it. */
export class ScoreLog {
  readonly #ranges = new Batched<number, LogRange>(() => logRanges(this.admin, this.topic));

  constructor(
    private readonly kafka: Kafka,
    private readonly admin: Admin,
    private readonly topic: string,
  ) {}

  /** @throws TopicsMissingError */
  async partitions(): Promise<number[]> {
    const count = await partitionCount(this.kafka, this.topic);
    if (count === 0) throw new TopicsMissingError([this.topic]);
    return Array.from({ length: count }, (_, partition) => partition);
  }

  /**
   * Looks whether the log still is the one that was published up to here, and of which `last` was the last applied record.
   * One whose history is cut above that record can't tell; what was read of it stands. Answers what the log holds.
   * @throws LogEndsError, OtherLogError
   */
  async check(
    partition: number,
    { published, last }: { published: number; last: RecordIdentity | undefined },
  ): Promise<LogRange> {
    const { topic } = this;
    const range = (await this.#ranges.get(partition)) ?? { start: 0, end: 0 };
    const known = Math.max(published - 1, last?.offset ?? -1);
    if (range.end <= known) throw new LogEndsError(topic, partition, known, range);
    if (last === undefined || range.start > last.offset) return range;
    const found = await this.#recordAt(partition, last.offset);
    if (!isSameRecord(found, last)) throw new OtherLogError(topic, partition, last.offset);
    return range;
  }

  /** A leader that was elected a moment ago may not show its last records yet. */
  async #recordAt(partition: number, offset: number): Promise<KafkaRecord | undefined> {
    for (let look = 1; ; look++) {
      const found = await recordAt(this.kafka, { topic: this.topic, partition, offset });
      if (found !== undefined || look === MOST_LOOKS) return found;
      await delay(LOOK_AGAIN_MS);
    }
  }
}
