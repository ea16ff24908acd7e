import { decodeScoreEvent, formatTime } from '#contracts';
import { lastRecords, logRanges, partitionOf, type KafkaRecord } from '#kafka-batch';
import type { KafkaConnection } from '../../infra/kafka.js';
import { misplacementOf } from '../../ingest/misplacement.js';

/** How many of the last offsets of each partition are read. */
const SAMPLED_OFFSETS = 100;

/**
 * How many of the last score events are not where Kafka's default partitioner puts their player's
 * id.
 */
export interface MisplacedCounts {
  /** Score events that were read. */
  readonly sampled: number;
  /** Those whose key is not their player id. */
  readonly key: number;
  /** Those in another partition than that of their key, by the present number of partitions. */
  readonly partition: number;
  /**
   * A smaller number of partitions by which all of `partition` are in the right one, and the time
   * of the last of them in Kafka. So partitions were probably added after that. Null if there is no
   * such number. Kafka does not keep when partitions were added.
   */
  readonly earlier: { readonly partitions: number; readonly lastAt: string } | null;
}

interface Sampled {
  readonly record: KafkaRecord;
  readonly partition: number;
}

/** Reads the end of the score topic. Cost: a fetch of at most 1 MiB for each partition. */
export async function countMisplaced({
  kafka,
  topics: { scoreEvents },
}: Pick<KafkaConnection, 'kafka' | 'topics'>): Promise<MisplacedCounts> {
  const partitions = [...(await logRanges(kafka, scoreEvents)).keys()];
  const reads = partitions.map(async (partition) => {
    const records = await lastRecords(kafka, scoreEvents, partition, SAMPLED_OFFSETS);
    return records.map((record): Sampled => ({ record, partition }));
  });
  return misplacedAmong((await Promise.all(reads)).flat(), partitions.length);
}

export function misplacedAmong(samples: readonly Sampled[], partitions: number): MisplacedCounts {
  let sampled = 0;
  let key = 0;
  const moved: Sampled[] = [];
  for (const sample of samples) {
    const { record, partition } = sample;
    const decoded = decodeScoreEvent(record);
    if (!decoded.ok || decoded.event.retryOf !== undefined) continue;
    sampled += 1;
    const reason = misplacementOf(record, decoded.event.playerId, { partition, partitions });
    if (reason === 'key') key += 1;
    if (reason === 'partition') moved.push(sample);
  }
  return { sampled, key, partition: moved.length, earlier: earlierOf(moved, partitions) };
}

function earlierOf(moved: readonly Sampled[], partitions: number): MisplacedCounts['earlier'] {
  if (moved.length === 0) return null;
  for (let count = partitions - 1; count > 0; count--)
    if (moved.every((sample) => isPlacedBy(count, sample))) {
      const last = Math.max(...moved.map(({ record }) => record.timestamp));
      return { partitions: count, lastAt: formatTime(last) };
    }
  return null;
}

function isPlacedBy(partitions: number, { record: { key }, partition }: Sampled): boolean {
  return key !== null && partitionOf(key, partitions) === partition;
}

/** What is wrong, what it means and what to do; empty if nothing is wrong. */
export function misplacedText({ sampled, key, partition, earlier }: MisplacedCounts): string {
  if (key + partition === 0) return '';
  const added =
    earlier === null
      ? ''
      : ` (all of these as with ${earlier.partitions} partitions, the last at ` +
        `${earlier.lastAt}: partitions were probably added after that)`;
  return (
    `of the last ${sampled} score events, ${key} have another key than their player id, and ` +
    `${partition} are in another partition than Kafka's default partitioner gives${added}. ` +
    'On a board with deduplicate, an event that is repeated in another partition counts twice; ' +
    'see "Misplaced records" in docs/operations.md'
  );
}
