import type { Admin, Kafka } from 'kafkajs';
import {
  decodeDeadLetter,
  decodeLeaderChange,
  decodePeriodResult,
  decodeRankChange,
  topicNames,
  MalformedRecordError,
  type DeadLetter,
  type LeaderChange,
  type PeriodResult,
  type RankChange,
  type RawRecord,
} from '#contracts';
import { toError } from '#errors';
import {
  BatchConsumer,
  committedOffsets,
  GroupRefusedError,
  isPermanent,
  LogGapError,
  logRange,
  logRanges,
  NEW_TOPIC_MS,
  OtherTopicsError,
  requireTopics,
  type KafkaRecord,
  type LogRange,
  type PartitionAssignment,
  type PermanentPartitionError,
  type RecordBatch,
} from '#kafka-batch';
import {
  GroupInUseError,
  ResultGapError,
  ResultTopicReplacedError,
  SubscriberUsedError,
  UnreadableResultError,
  type ResultGap,
} from './client-errors.js';
import { HandledPositions } from './group-positions.js';
import {
  HandlerRetries,
  type Handle,
  type HandlerErrors,
  type ResultFacts,
} from './retrying-handler.js';

export interface SubscriberOptions {
  readonly kafka: Kafka;
  /** Members of a group share the partitions. Each group gets all results. */
  readonly groupId: string;
  readonly topicPrefix?: string;
  /**
   * Whether a new group starts at the first result in Kafka; by default it starts at the next one
   * to be published.
   */
  readonly fromBeginning?: boolean;
  /**
   * Called when results were deleted before they were read; the subscription then skips them.
   * Without it: ResultGapError.
   */
  readonly onGap?: (gap: ResultGap) => Promise<void> | void;
  /** What to do when the handler throws; by default, it is called again until it succeeds. */
  readonly errors?: HandlerErrors;
}

interface ResultTopic<T> {
  readonly name: string;
  readonly decode: (record: RawRecord) => T;
  readonly factsOf: (result: T) => ResultFacts;
}

/**
 * After this many permanent failures of a partition's start in a row, the subscription ends. The
 * pauses between them grow.
 */
const MAX_FAILED_STARTS = 10;

/**
 * Delivers all committed results of a topic: the results of one partition in order, one at a time;
 * several partitions concurrently. Results may be delivered again: after a crash, the results that
 * were handled in the last second; after a rebalance, the results whose handlers were running. The
 * `ce_id` identifies a result: `source` (and the `view` of a leader change), or `periodResultId`.
 * Errors of the handler are logged, and treated as `errors` says. States: new, started, ended
 * (stopped or failed). A subscriber starts once.
 */
export abstract class ResultSubscriber<T> {
  readonly #consumer: BatchConsumer;
  readonly #positions: HandledPositions;
  readonly #logger: ReturnType<Kafka['logger']>;
  #admin: Admin | undefined;
  /**
   * The ranges of all partitions, at whose ends a new group starts. Empty: a partition without an
   * offset starts at its first result.
   */
  #startRanges: ReadonlyMap<number, LogRange> = new Map();
  /** By partition, how many starts in a row have failed for a reason that no retry repairs. */
  readonly #failedStarts = new Map<number, number>();
  readonly #retries: HandlerRetries;
  #handle: Handle<T> | undefined;
  #stopping: Promise<void> | undefined;
  #fail: (error: unknown) => void = () => undefined;

  /**
   * Rejects when the handler (policy `stop`), a result that can't be read (all policies but
   * `skip`), or an error of Kafka that no retry repairs has ended the subscription. The error is
   * also logged. An outage of Kafka does not end the subscription. Never resolves.
   */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  protected constructor(
    private readonly options: SubscriberOptions,
    private readonly topic: ResultTopic<T>,
  ) {
    const { kafka, groupId, errors } = options;
    this.failed.catch(() => undefined); // an application that ignores `failed` must not crash
    this.#logger = kafka.logger().namespace('ranklog');
    this.#retries = new HandlerRetries(this.#logger, errors);
    this.#consumer = new BatchConsumer({
      kafka,
      groupId,
      topic: topic.name,
      logger: this.#logger,
      onFatal: (error) => {
        const isInUse = error instanceof GroupRefusedError || error instanceof OtherTopicsError;
        this.#end(isInUse ? new GroupInUseError(groupId, error) : error);
      },
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

  /**
   * Joins the group; resolves once this subscriber is a member, or when its first join has failed
   * and will be tried again. If a member of the group was killed, Kafka waits up to 10 s for it
   * before it admits this one.
   * @throws SubscriberUsedError if `start` or `stop` was called before, KafkaUnreachableError after
   * 30 s without Kafka, TopicsMissingError
   */
  async start(handle: Handle<T>): Promise<void> {
    const { groupId } = this.options;
    if (this.#stopping !== undefined) throw new SubscriberUsedError(groupId, 'stopped');
    if (this.#handle !== undefined) throw new SubscriberUsedError(groupId, 'started');
    this.#handle = handle;
    await this.#consumer.start();
    await Promise.race([this.failed, Promise.resolve()]); // throws if it has failed already
  }

  /**
   * Waits for running handlers, commits the offsets of handled results, and leaves the group. A
   * handler must not await `stop`, because `stop` awaits the handler.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#consumer.close().finally(() => this.#positions.close());
    return this.#stopping;
  }

  #end(error: unknown): void {
    this.#fail(error);
    const { message, stack } = toError(error);
    const { groupId } = this.options;
    const facts = { groupId, topic: this.topic.name, error: message, stack };
    this.#logger.error(
      `group ${groupId}: the subscription to ${facts.topic} ends: ${message}`,
      facts,
    );
    this.stop().catch((problem: unknown) => {
      this.#logger.warn('leaving the group failed', { error: problem });
    });
  }

  /** Reads the start positions before this member joins, so that no result is missed. */
  async #connected(admin: Admin): Promise<void> {
    const { kafka, groupId, fromBeginning = false } = this.options;
    const { client } = this.#consumer;
    this.#admin = admin;
    await requireTopics(admin, [this.topic.name], NEW_TOPIC_MS);
    const committed = await committedOffsets(admin, groupId, this.topic.name);
    const isNew = !fromBeginning && committed.size === 0;
    this.#startRanges = isNew ? await logRanges(kafka, this.topic.name) : new Map();
    client.on(client.events.REBALANCING, () => {
      void this.#positions.flush(); // before another member gets a partition
    });
  }

  async #assigned({ partition }: PartitionAssignment): Promise<number> {
    try {
      const position = await this.#position(partition);
      this.#failedStarts.delete(partition);
      return position;
    } catch (error) {
      const failures = (this.#failedStarts.get(partition) ?? 0) + (isPermanent(error) ? 1 : 0);
      this.#failedStarts.set(partition, failures);
      if (failures >= MAX_FAILED_STARTS) this.#end(error);
      throw error;
    }
  }

  async #position(partition: number): Promise<number> {
    const { kafka, groupId, onGap } = this.options;
    const topic = this.topic.name;
    const log = await logRange(kafka, topic, partition);
    const offsets = this.#admin && (await committedOffsets(this.#admin, groupId, topic));
    const committed = offsets?.get(partition);
    const start = committed ?? this.#startRanges.get(partition)?.end ?? log.start;

    let position = Math.max(start, this.#positions.last(partition));
    if (position < log.start && onGap !== undefined) {
      await onGap({ topic, partition, from: position, to: log.start });
      position = log.start;
    }
    if (position !== committed) this.#positions.handled(partition, position);
    return position;
  }

  async #batch({ assignment, partition, records, nextOffset }: RecordBatch): Promise<void> {
    try {
      for (const record of records) {
        if (!(await this.#deliver(record, assignment))) return;
        this.#positions.handled(partition, record.offset + 1);
      }
      this.#positions.handled(partition, nextOffset);
    } catch (error) {
      this.#end(error);
    }
  }

  /** Returns false if the partition is lost or the subscriber stops before the result is done. */
  async #deliver(record: KafkaRecord, { partition, signal }: PartitionAssignment) {
    const { name: topic, factsOf } = this.topic;
    const place = { topic, partition, offset: record.offset };
    const { policy, onSkipped } = this.options.errors ?? {};
    const result = this.#read(partition, record);
    if (result instanceof UnreadableResultError) {
      if (policy !== 'skip') throw result;
      this.#logger.error(`skipping a result: ${result.message}`, place);
      await onSkipped?.({ ...place, error: result });
      return true;
    }

    const facts = { ...place, ...factsOf(result) };
    const outcome = await this.#retries.call(() => this.#handle?.(result), facts, signal);
    if (outcome instanceof Error) await onSkipped?.({ ...place, result, error: outcome });
    return outcome !== 'aborted';
  }

  #read(partition: number, record: KafkaRecord): T | UnreadableResultError {
    try {
      return this.topic.decode(record);
    } catch (error) {
      return new UnreadableResultError(this.topic.name, partition, record.offset, error);
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
    if (log.start <= expected) {
      const at = { topic, partition, position: expected };
      this.#end(new ResultTopicReplacedError(groupId, at, log.end));
      return false;
    }
    if (onGap !== undefined) return true;
    const gap = { topic, partition, from: expected, to: log.start };
    this.#end(new ResultGapError(groupId, gap));
    return false;
  }
}

/** Delivers rank changes, per player in order if producers key score events by player. */
export class RankChangeSubscriber extends ResultSubscriber<RankChange> {
  constructor(options: SubscriberOptions) {
    super(options, {
      name: topicNames(options.topicPrefix).rankChanges,
      decode: decodeRankChange,
      factsOf: ({ board, playerId }) => ({ board, player: playerId }),
    });
  }
}

/**
 * Delivers leader changes. The leader changes of one view come from several partitions, so a newer
 * one may come before an older one, which LeadersByView then ignores. If a group has several
 * members, each member gets only a part of the leader changes.
 */
export class LeaderChangeSubscriber extends ResultSubscriber<LeaderChange> {
  constructor(options: SubscriberOptions) {
    super(options, {
      name: topicNames(options.topicPrefix).leaderChanges,
      decode: decodeLeaderChange,
      factsOf: ({ board, view }) => ({ board, view }),
    });
  }
}

/**
 * Delivers the results of closed windows, in the order of their announcement. If you pay prizes,
 * store the `periodResultId` with each payment: a result that is delivered again has the same id.
 */
export class PeriodResultSubscriber extends ResultSubscriber<PeriodResult> {
  constructor(options: SubscriberOptions) {
    super(options, {
      name: topicNames(options.topicPrefix).periodResults,
      decode: decodePeriodResult,
      factsOf: ({ board, view }) => ({ board, view }),
    });
  }
}

/** A dead letter, with key, value and headers of its record. */
export type DeadLetterRecord = DeadLetter & Pick<RawRecord, 'key' | 'value' | 'headers'>;

/** Delivers dead letters. The topic, partition and offset of its record identify a dead letter. */
export class DeadLetterSubscriber extends ResultSubscriber<DeadLetterRecord> {
  constructor(options: SubscriberOptions) {
    super(options, {
      name: topicNames(options.topicPrefix).deadLetters,
      decode: (record) => {
        const letter = decodeDeadLetter(record);
        if (letter === undefined)
          throw new MalformedRecordError('ranklog.dead-letter', 'it has no header ranklog_reason');
        const { key, value, headers } = record;
        return { ...letter, key, value, headers };
      },
      factsOf: ({ code }) => ({ reason: code }),
    });
  }
}
