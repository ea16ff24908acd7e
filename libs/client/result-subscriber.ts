import type { Admin, Kafka } from 'kafkajs';
import {
  decodeLeaderChange,
  decodeRankChange,
  topicNames,
  type LeaderChange,
  type RankChange,
  type RawRecord,
} from '#contracts';
import {
  BatchConsumer,
  committedOffsets,
  LogGapError,
  lookAt,
  type KafkaRecord,
  type PartitionAssignment,
  type PermanentPartitionError,
  type RecordBatch,
} from '#kafka-batch';
import {
  ResultGapError,
  ResultTopicReplacedError,
  UnreadableResultError,
  type ResultGap,
} from './errors.js';
import { HandledPositions, readStartPositions } from './group-positions.js';

export interface SubscriberOptions {
  readonly kafka: Kafka;
  /** Members of a group share the partitions. Each group gets all results. */
  readonly groupId: string;
  readonly topicPrefix?: string;
  /** Whether a new group starts at the first result in Kafka; by default it starts at the next one to be published. */
  readonly fromBeginning?: boolean;
  /**
   * Called when results were deleted (retention) before they were read; the subscription then continues after them.
   * Without it, the subscription ends with a ResultGapError.
   */
  readonly onGap?: (gap: ResultGap) => Promise<void> | void;
}

type Handle<T> = (result: T) => Promise<void> | void;

/** After this many failed starts of partitions in a row, the subscription ends. The pauses between them grow. */
const MAX_FAILED_STARTS = 10;

/** These values keep a member in the group while its handler blocks the event loop. */
const CONSUMER = { sessionTimeout: 30_000, heartbeatInterval: 3_000 };

/**
 * Delivers all committed results of a topic: those of one partition in order and one at a time, those of several
 * partitions concurrently. A slow handler delays no other partition.
 * A result may be delivered again: after a crash the results of the last second, after a rebalance the results that were
 * being handled. `source` identifies a result. An error of the handler ends the subscription; a new subscriber of the
 * same group gets the failed result again.
 * States: new, started, ended (stopped or failed). A subscriber starts once.
 */
export abstract class ResultSubscriber<T> {
  readonly #consumer: BatchConsumer;
  readonly #positions: HandledPositions;
  readonly #logger: ReturnType<Kafka['logger']>;
  #admin: Admin | undefined;
  #startPositions: ReadonlyMap<number, number> = new Map();
  #failedStarts = 0;
  #handle: Handle<T> = () => undefined;
  #stopping: Promise<void> | undefined;
  #fail: (error: unknown) => void = () => undefined;

  /**
   * Rejects when the handler, or an error of Kafka that no retry repairs, has ended the subscription. An outage of Kafka
   * does not end it. Never resolves.
   */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  protected constructor(
    private readonly options: SubscriberOptions,
    private readonly topic: string,
    private readonly decode: (record: RawRecord) => T,
  ) {
    const { kafka, groupId } = options;
    this.failed.catch(() => undefined); // an application that ignores `failed` must not crash
    this.#logger = kafka.logger().namespace('ranklog');
    this.#consumer = new BatchConsumer({
      kafka,
      groupId,
      topic,
      logger: this.#logger,
      consumer: CONSUMER,
      onFatal: (error) => this.#end(error),
      onConnected: (admin) => this.#connected(admin),
      handlers: {
        assigned: (assignment) => this.#assigned(assignment),
        batch: (batch) => this.#batch(batch),
        released: ({ partition }) => this.#positions.release(partition),
        stops: (error) => this.#stops(error),
      },
    });
    this.#positions = new HandledPositions(
      (positions) => this.#consumer.commit(positions),
      (error) => this.#logger.debug('committing offsets failed, retrying', { groupId, error }),
    );
  }

  /** Joins the group; resolves once this subscriber is a member. Call it once. */
  async start(handle: Handle<T>): Promise<void> {
    this.#handle = handle;
    await this.#consumer.start();
    await Promise.race([this.failed, Promise.resolve()]);
  }

  /** Waits for running handlers, commits what is handled, and leaves the group. */
  stop(): Promise<void> {
    this.#stopping ??= this.#consumer.close().finally(() => this.#positions.close());
    return this.#stopping;
  }

  #end(error: unknown): void {
    this.#fail(error);
    this.stop().catch((problem: unknown) => {
      this.#logger.warn('leaving the group failed', { error: problem });
    });
  }

  async #connected(admin: Admin): Promise<void> {
    const { groupId, fromBeginning = false } = this.options;
    const { client } = this.#consumer;
    this.#admin = admin;
    const start = { groupId, topic: this.topic, fromBeginning };
    this.#startPositions = await readStartPositions(admin, start);
    client.on(client.events.REBALANCING, () => {
      void this.#positions.flush(); // before another member gets a partition
    });
  }

  async #assigned({ partition }: PartitionAssignment): Promise<number> {
    try {
      const position = await this.#position(partition);
      this.#failedStarts = 0;
      return position;
    } catch (error) {
      if (++this.#failedStarts >= MAX_FAILED_STARTS) this.#end(error);
      throw error;
    }
  }

  async #position(partition: number): Promise<number> {
    const { kafka, groupId, onGap } = this.options;
    const { range: log } = await lookAt(kafka, { topic: this.topic, partition });
    const offsets = this.#admin && (await committedOffsets(this.#admin, groupId, this.topic));
    const committed = offsets?.get(partition);
    const position = committed ?? this.#startPositions.get(partition) ?? log.start;
    const isCut = position < log.start;
    if (isCut) await onGap?.({ topic: this.topic, partition, from: position, to: log.start });
    const next = isCut && onGap !== undefined ? log.start : position;
    if (next !== committed) this.#positions.handled(partition, next);
    return next;
  }

  async #batch({ assignment, partition, records, nextOffset }: RecordBatch): Promise<void> {
    try {
      for (const record of records) {
        if (assignment.signal.aborted) return;
        await this.#handle(this.#read(partition, record));
        this.#positions.handled(partition, record.offset + 1);
      }
      this.#positions.handled(partition, nextOffset);
    } catch (error) {
      this.#end(error);
    }
  }

  #read(partition: number, { key, value, headers, offset }: KafkaRecord): T {
    try {
      return this.decode({ key, value, headers });
    } catch (error) {
      throw new UnreadableResultError(this.topic, partition, offset, error);
    }
  }

  /** With onGap, a partition whose log was cut starts again; its start calls onGap. */
  #stops(error: PermanentPartitionError): boolean {
    if (!(error instanceof LogGapError)) {
      this.#end(error);
      return false;
    }
    const { groupId, onGap } = this.options;
    const { topic, partition, expected, log } = error;
    const isCut = log.start > expected;
    if (isCut && onGap !== undefined) return true;
    const gap = { topic, partition, from: expected, to: log.start };
    const at = { topic, partition, position: expected };
    this.#end(
      isCut ? new ResultGapError(groupId, gap) : new ResultTopicReplacedError(groupId, at, log.end),
    );
    return false;
  }
}

/** Delivers rank changes: those of one player in order, if producers key score events by player. */
export class RankChangeSubscriber extends ResultSubscriber<RankChange> {
  constructor(options: SubscriberOptions) {
    super(options, topicNames(options.topicPrefix).rankChanges, decodeRankChange);
  }
}

/**
 * Delivers leader changes. Those of one view come from several partitions, so a newer one may come before an older one,
 * which LeadersByView then ignores. If a group has several members, each gets only a part of the leader changes.
 */
export class LeaderChangeSubscriber extends ResultSubscriber<LeaderChange> {
  constructor(options: SubscriberOptions) {
    super(options, topicNames(options.topicPrefix).leaderChanges, decodeLeaderChange);
  }
}
