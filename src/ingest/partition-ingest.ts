import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { toError } from '#errors';
import {
  PermanentPartitionError,
  type KafkaRecord,
  type PartitionAssignment,
  type RecordBatch,
} from '#kafka-batch';
import { RecurringTask } from '../infra/recurring-task.js';
import { ApplierFactory, type Applier } from './applier.js';
import { ReplacedServerError } from './continuity-times.js';
import { PartitionLogFactory, type PartitionLog } from './partition-log.js';
import { PublisherFactory, type PartitionPublisher } from './partition-publisher.js';
import { Resync } from './resync.js';
import type { BatchPosition } from './split-calls.js';

/** How often a partition sends its published position to all shards. */
const KEEP_UP_EVERY_MS = 5_000;
/** How often to check for a recreated topic and a replaced server of Redis. */
const CHECK_EVERY_MS = 10_000;

/** A partition that has started, and the offset at which reading begins. */
interface Started {
  readonly ingest: PartitionIngest;
  readonly offset: number;
}

@Injectable()
export class PartitionIngestFactory {
  constructor(
    private readonly resync: Resync,
    private readonly publishers: PublisherFactory,
    private readonly appliers: ApplierFactory,
    private readonly logs: PartitionLogFactory,
  ) {}

  /**
   * Fences the previous publisher, and continues the partition from the state in Kafka and Redis.
   * @throws StoreChangedError, ReplacedServerError, WrongLogError, NeedsOperatorError, and errors
   * of Kafka and Redis
   */
  async start(assignment: PartitionAssignment): Promise<Started> {
    await this.publishers.check(assignment);
    const continuity = await this.resync.continuity();
    const publisher = await this.publishers.open(assignment, continuity);
    try {
      const { published } = publisher;
      const applier = await this.appliers.open(assignment, continuity);
      const { appliedOffsets } = applier;
      const shards = { appliedOffsets, continuity };
      await this.resync.checkApplied(assignment.partition, published, shards);

      const firstNew = Math.max(published, ...appliedOffsets.map((applied) => applied + 1));
      const log = await this.logs.open(assignment, { published, firstNew });
      const offset = await applier.firstToRead(published, log.start);
      await applier.begin(offset, published);
      return { ingest: new PartitionIngest(assignment, publisher, applier, log), offset };
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }
}

/**
 * Applies the records of one assigned partition and publishes their results.
 * States: open, then closed by `close`. Every failure ends this object, except a temporary one of
 * `#watch`. The failure is thrown or reported to `assignment.restart`. Then the partition starts
 * again, or stops if the failure is permanent.
 */
export class PartitionIngest {
  readonly #tasks: readonly RecurringTask[];
  /** Runs batches and `#keepUp` strictly one after the other, because both call the boards. */
  readonly #steps = pLimit(1);

  constructor(
    private readonly assignment: PartitionAssignment,
    private readonly publisher: PartitionPublisher,
    private readonly applier: Applier,
    private readonly log: PartitionLog,
  ) {
    this.#tasks = [
      new RecurringTask(() => this.#keepUp(), KEEP_UP_EVERY_MS),
      new RecurringTask(() => this.#watch(), CHECK_EVERY_MS),
    ];
    publisher.beforeTransaction = (through) => applier.sendOffset(through, publisher.published);
    for (const task of this.#tasks) task.start();
  }

  /** Applies a batch. Resolves when there is room for the next one. Publishes results later. */
  handle({ records, from, nextOffset, fetchedSince }: RecordBatch): Promise<void> {
    return this.#steps(async () => {
      // Fetches were interrupted since the last check: the topic may have been recreated.
      if (fetchedSince > this.log.checkedAt) await this.log.check(this.publisher.published);
      const { published } = this.publisher;
      await this.#apply(records, { from, nextOffset, published });
    });
  }

  /** Publishes the results of applied records, if that is still possible; closes the publisher. */
  async close(): Promise<void> {
    for (const task of this.#tasks) void task.stop();
    await this.#steps(() => undefined); // waits for the steps before this one
    await this.publisher.close();
  }

  async #apply(records: readonly KafkaRecord[], position: BatchPosition): Promise<void> {
    for await (const run of this.applier.apply(records, position)) {
      this.log.applied(run);
      // The replay ends at the published position. Shards without records in it need its last
      // offset, or other partitions would keep waiting for them.
      if (run.through + 1 === position.published)
        await this.applier.sendOffset(run.through, position.published);
      await this.publisher.add(run);
    }
    this.publisher.flush();
  }

  async #keepUp(): Promise<void> {
    try {
      await this.#steps(() => this.applier.keepUp(this.publisher.published));
    } catch (error) {
      this.assignment.restart(toError(error));
    }
  }

  /**
   * Runs concurrently with the batches, so a leader that does not answer can't delay them. Ignores
   * temporary failures.
   */
  async #watch(): Promise<void> {
    const checks = [this.log.check(this.publisher.published), this.publisher.checkServers()];
    for (const outcome of await Promise.allSettled(checks)) {
      if (outcome.status === 'fulfilled') continue;
      const error: unknown = outcome.reason;
      if (error instanceof PermanentPartitionError || error instanceof ReplacedServerError)
        this.assignment.restart(error);
    }
  }
}
