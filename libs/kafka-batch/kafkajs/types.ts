import type { EncodedHeaders } from './record-headers.js';

/** A Kafka record; the timestamp in ms. */
export interface KafkaRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;
  /** The same headers as bytes, if the record comes from Kafka: faster to read a few of them. */
  readonly encodedHeaders?: EncodedHeaders | undefined;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * The offsets `start` to `end` - 1 of a log, or of a part of it that is to be read. Where a whole
 * log ends depends on the look-up: see `LogEnd`.
 */
export interface LogRange {
  readonly start: number;
  readonly end: number;
}

/** The offsets of a batch of records. */
export interface BatchPlace extends TopicPartition {
  readonly first: number;
  readonly last: number;
}

/** A batch in a log. If the topic is recreated, a batch at the same offsets has another CRC. */
export interface FoundBatch extends BatchPlace {
  readonly crc: number;
}

/** A member of a consumer group, as others see it. */
export interface GroupMember {
  readonly memberId: string;
  readonly host: string;
  /** Empty during a rebalance. */
  readonly topics: readonly string[];
  readonly userData: string;
}

export interface GroupFacts {
  readonly groupId: string;
  /** Empty during a rebalance, and if the group has no members. */
  readonly protocol: string;
  readonly members: readonly GroupMember[];
}

/** One start of an assigned partition: from a call of `assigned` to the call of `released`. */
export interface PartitionAssignment {
  readonly topic: string;
  readonly partition: number;
  /** Aborted when the partition is lost or restarted, or the process stops. */
  readonly signal: AbortSignal;
  /** Asks the coordinator whether the group is stable and the partition belongs to this member. */
  stillOurs(): Promise<boolean>;
  /**
   * Reports a failure outside a handler, with the same effect as an error that a handler throws.
   */
  restart(reason: Error): void;
  /** Reports that the handler waits on purpose or has a long task, so that it is not stuck. */
  progress(): void;
}

/**
 * The offsets `from` to `nextOffset` - 1 of a partition; each batch begins where the previous one
 * ended. Offsets without a record are transaction markers, or aborted or compacted records.
 * `records` may be empty.
 */
export interface RecordBatch {
  readonly assignment: PartitionAssignment;
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly records: readonly KafkaRecord[];
  readonly nextOffset: number;
  /**
   * Since when fetches of the partition have been answered without a long pause or a failure: a
   * time of performance.now().
   */
  readonly fetchedSince: number;
}
