import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import type { RecordIdentity } from '#board-store';
import {
  LogEndsError,
  LOOKS,
  lookAt,
  OtherLogError,
  partitionCount,
  type KafkaRecord,
  type LogRange,
  type PartitionLook,
} from '#kafka-batch';
import { TopicsMissingError } from '../infra/topics.js';

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
function isSameRecord(found: KafkaRecord | undefined, applied: RecordIdentity): boolean {
  const identity = found && identityOf(found);
  return identity?.timestamp === applied.timestamp && identity.hash === applied.hash;
}

/** The score topic, beside what the consumer reads of it. */
export class ScoreLog {
  constructor(
    private readonly kafka: Kafka,
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
    for (let look = 1; ; look++) {
      const found = await lookAt(this.kafka, {
        topic: this.topic,
        partition,
        offset: last?.offset,
      });
      const problem = this.#problemOf(partition, found, { published, last });
      if (problem === undefined) return found.range;
      if (look === LOOKS.most) throw problem;
      await delay(LOOKS.pauseMs);
    }
  }

  /** Only a record that differs shows another log; one that is missing may be shown later. */
  #problemOf(
    partition: number,
    { range, record }: PartitionLook,
    { published, last }: { published: number; last: RecordIdentity | undefined },
  ): Error | undefined {
    const { topic } = this;
    const known = Math.max(published - 1, last?.offset ?? -1);
    if (range.end <= known) return new LogEndsError(topic, partition, known, range);
    if (last === undefined || range.start > last.offset) return undefined;
    if (record === undefined)
      return new Error(
        `Kafka does not show the last applied record of ${topic}/${partition}, offset ${last.offset}, though the log holds ${range.start} to ${range.end}`,
      );
    return isSameRecord(record, last)
      ? undefined
      : new OtherLogError(topic, partition, last.offset);
  }
}
