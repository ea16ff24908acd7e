import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { RecordIdentity } from '#board-store';
import {
  isPassedOver,
  LOOKS,
  lookAt,
  WrongLogError,
  type KafkaRecord,
  type LogRange,
  type PartitionLook,
} from '#kafka-batch';
import { KafkaConnection } from '../infra/kafka.js';

/** Identifies a record when it is read again. The hash of key and value has 64 bits. */
export function recordIdentity({ offset, timestamp, key, value }: KafkaRecord): RecordIdentity {
  const hash = createHash('sha256')
    .update(`${key?.length ?? -1} ${value?.length ?? -1}\n`)
    .update(key ?? '')
    .update(value ?? '')
    .digest('hex');
  return { offset, timestamp, hash: hash.slice(0, 16) };
}

/** The published position of a partition, and its last applied record. */
interface KnownLog {
  readonly published: number;
  readonly last: RecordIdentity | undefined;
}

/** The offsets that the log of a partition holds, and how many partitions the topic has. */
export type FoundLog = LogRange & Pick<PartitionLook, 'partitions'>;

/** Checks the score topic, independently of its consumer. */
@Injectable()
export class ScoreLog {
  constructor(private readonly connection: KafkaConnection) {}

  /**
   * Checks that the log is the one that was applied: it reaches the published position and has the
   * last applied record, unless the log has been cut beyond that record.
   * @throws WrongLogError
   */
  async check(partition: number, known: KnownLog): Promise<FoundLog> {
    const { kafka, topics } = this.connection;
    const topic = topics.scoreEvents;
    for (let look = 1; ; look++) {
      const found = await lookAt(kafka, { topic, partition, offset: known.last?.offset });
      const problem = this.#problemOf(partition, found, known);
      if (problem === undefined) return { ...found.range, partitions: found.partitions };
      if (look === LOOKS.most) throw problem;
      await delay(LOOKS.pauseMs);
    }
  }

  /**
   * It is another log if it ends too early or has a different record. A record that is only missing
   * may appear later, so that error is temporary.
   */
  #problemOf(
    partition: number,
    { range, record }: PartitionLook,
    { published, last }: KnownLog,
  ): Error | undefined {
    const topic = this.connection.topics.scoreEvents;
    const known = Math.max(published - 1, last?.offset ?? -1);
    const applied = `${topic}/${partition} was applied up to offset`;
    if (range.end <= known)
      return new WrongLogError(
        `${applied} ${known}, but the log starts at ${range.start} and ends at ${range.end}: ` +
          'the topic was recreated or restored from a backup',
      );

    if (last === undefined || range.start > last.offset) return undefined;
    // An earlier version, which could read the batch, may have applied the record.
    if (isPassedOver({ topic, partition }, last.offset)) return undefined;

    if (record === undefined)
      return new Error(
        `Kafka does not return the last applied record of ${topic}/${partition}, offset ` +
          `${last.offset}, though the log starts at ${range.start} and ends at ${range.end}`,
      );

    const { timestamp, hash } = recordIdentity(record);
    const isSame = timestamp === last.timestamp && hash === last.hash;
    if (isSame) return undefined;
    return new WrongLogError(
      `${applied} ${last.offset}, but the log has another record there: the topic was recreated`,
    );
  }
}
