/** A record of Kafka; the timestamp in ms. */
export interface KafkaRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;
}

/** A partition while it is ours: from one start to its release. */
export interface PartitionAssignment {
  readonly topic: string;
  readonly partition: number;
  /** Counts the starts of this partition since the group last assigned it. */
  readonly incarnation: number;
  /** Aborted when the partition is lost, restarted, or the process stops. */
  readonly signal: AbortSignal;
  /** Whether the coordinator says, now, that the group is stable and the partition belongs to this member. */
  stillOurs(): Promise<boolean>;
  /** Tells of a failure outside a handler: the partition is released and, after a pause, started anew. */
  restart(reason: Error): void;
  /** Tells that the handler waits on purpose, or works on something long: it is not stuck. */
  progress(): void;
}

/**
 * The part of a partition's log from `from` to `nextOffset` - 1; batches follow each other without a gap. Offsets without a
 * record are transaction markers, or aborted or compacted records. `records` may be empty.
 */
export interface RecordBatch {
  readonly assignment: PartitionAssignment;
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly records: readonly KafkaRecord[];
  readonly nextOffset: number;
  /** Since when the log is in sight (every-fetch.ts), by performance.now(). */
  readonly inSightSince: number;
}

/** Where the words of this library go. */
export interface KafkaBatchLogger {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}
