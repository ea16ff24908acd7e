import type { Admin, Kafka } from 'kafkajs';
import type { RawRecord } from '#contracts';
// Not by the index: that would bring Nest to everyone who reads results.
import { BatchConsumer } from '../kafka-batch/batch-consumer.js';
import { LogGapError, type PermanentPartitionError } from '../kafka-batch/errors.js';
import { lookAt } from '../kafka-batch/last-committed-record.js';
import { committedOffset } from '../kafka-batch/positions.js';
import type { KafkaRecord, PartitionAssignment, RecordBatch } from '../kafka-batch/types.js';
import { HandledPositions } from './handled-positions.js';
import { StartPositions } from './start-positions.js';
import {
  ResultGapError,
  ResultTopicReplacedError,
  UnreadableResultError,
  type ResultGap,
} from './subscriber-errors.js';

export interface SubscriberOptions {
  readonly kafka: Kafka;
  /** Members of a group share the partitions; each group gets every result. */
  readonly groupId: string;
  readonly topicPrefix?: string;
  /** Where a new group starts: at the first result that Kafka still has, or at the next one. */
  readonly fromBeginning?: boolean;
  /**
   * Told of results that were deleted (retention) before they were read; the subscription goes on behind them. Without
   * it, the subscription ends with a ResultGapError.
   */
  readonly onGap?: (gap: ResultGap) => Promise<void> | void;
}

type Handle<T> = (result: T) => Promise<void> | void;

/** Starts of partitions that fail one after the other, each a little later, before the subscription ends. */
const MOST_FAILED_STARTS = 10;

/** A handler may keep the event loop busy for long before the group takes its process for dead. */
const CONSUMER = { sessionTimeout: 30_000, heartbeatInterval: 3_000 };

/**
 * Hands over the results of a topic as they are committed: none is left out, those of a partition in order and one
 * after the other, those of different partitions side by side. A handler may be slow; it holds up no other partition.
 *
 * A result may come again: after a crash those of the last second, and when members of the group come or go, those
 * that were in hand. Its `source` tells. A handler that throws ends the subscription; started again, with the same
 * group, it gets that result again.
 *
 * States: new, started, ended (stopped, or failed). A subscriber starts once.
 */
export abstract class ResultSubscriber<T> {
  readonly #consumer: BatchConsumer;
  readonly #positions: HandledPositions;
  readonly #logger: ReturnType<Kafka['logger']>;
  #group: { readonly admin: Admin; readonly starts: StartPositions } | undefined;
  #failedStarts = 0;
  #handle: Handle<T> = () => undefined;
  #stopping: Promise<void> | undefined;
  #fail: (error: unknown) => void = () => undefined;

  /**
   * Rejects when the subscription has ended by an error of the handler, or by one of Kafka that no retry repairs. An outage of Kafka
   * is waited out, however long. Never resolves.
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
    this.failed.catch(() => undefined); // whoever does not look at it must not crash for it
    this.#logger = kafka.logger().namespace('ranklog');
    this.#consumer = new BatchConsumer({
      kafka,
      groupId,
      topic,
      logger: this.#logger,
      consumer: CONSUMER,
      onFatal: (error) => {
        this.#end(error);
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
      (error) => {
        this.#logger.debug('what was handled is not committed yet', { groupId, error });
      },
    );
  }

  /** Joins the group and begins; resolves once it is a member. */
  async start(handle: Handle<T>): Promise<void> {
    this.#handle = handle;
    await this.#consumer.start();
    await Promise.race([this.failed, Promise.resolve()]);
  }

  /** Lets the handlers in hand finish, commits what is handled, and leaves the group. */
  stop(): Promise<void> {
    this.#stopping ??= this.#consumer.close().finally(() => {
      this.#positions.close();
    });
    return this.#stopping;
  }

  #end(error: unknown): void {
    this.#fail(error);
    this.stop().catch((problem: unknown) => {
      this.#logger.warn('the subscription has ended, but not in good order', { error: problem });
    });
  }

  async #connected(admin: Admin): Promise<void> {
    const { groupId, fromBeginning = false } = this.options;
    const { client } = this.#consumer;
    this.#group = {
      admin,
      starts: await StartPositions.read(admin, { groupId, topic: this.topic, fromBeginning }),
    };
    client.on(client.events.REBALANCING, () => {
      void this.#positions.flush(); // a partition may go to another member
    });
  }

  async #assigned({ partition }: PartitionAssignment): Promise<number> {
    try {
      const position = await this.#position(partition);
      this.#failedStarts = 0;
      return position;
    } catch (error) {
      if (++this.#failedStarts >= MOST_FAILED_STARTS) this.#end(error);
      throw error;
    }
  }

  async #position(partition: number): Promise<number> {
    if (this.#group === undefined) throw new Error('assigned before it was connected');
    const { admin, starts } = this.#group;
    const { kafka, groupId, onGap } = this.options;
    const { range: log } = await lookAt(kafka, { topic: this.topic, partition });
    const committed = await committedOffset(admin, groupId, this.topic, partition);
    const position = committed ?? starts.of(partition) ?? log.start;
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

  /** A cut log is looked into at the next start of the partition, if that is wanted. */
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
