import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { BoardStore, ContinuityStore } from '#board-store';
import {
  PermanentPartitionError,
  toError,
  type PartitionAssignment,
  type RecordBatch,
  type TransactionalPublisher,
} from '#kafka-batch';
import { Metrics } from '../infra/metrics.js';
import { RecurringTask } from '../infra/recurring-task.js';
import { Applier, type AppliedRun, type ApplierStart } from './applier.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { LiveBoards } from './live-boards.js';
import { LogIdentity } from './log-identity.js';
import { MisplacedRecords, PlacementWatch } from './misplaced-records.js';
import { PartitionWaits } from './partition-waits.js';
import { PublishPipeline, type Publication } from './publish-pipeline.js';
import { ResultLog } from './result-log.js';
import { Resync, StoreChangedError } from './resync.js';
import { ScoreLog, type FoundLog } from './score-log.js';

/** How often a partition sends its published position to all shards. */
const KEEP_UP_EVERY_MS = 5_000;
/** How often to check that the log is still the one that was applied, even without a sign of another log. */
const CHECK_LOG_EVERY_MS = 10_000;

/** The services that all partitions of the process share. */
@Injectable()
export class IngestServices {
  @Inject() readonly store: BoardStore;
  @Inject() readonly continuity: ContinuityStore;
  @Inject() readonly boards: LiveBoards;
  @Inject() readonly resync: Resync;
  @Inject() readonly waits: PartitionWaits;
  @Inject() readonly scoreLog: ScoreLog;
  @Inject() readonly resultLog: ResultLog;
  @Inject() readonly deadLetters: DeadLetterReport;
  @Inject() readonly misplaced: MisplacedRecords;
  @Inject() readonly metrics: Metrics;
}

interface Start extends ApplierStart {
  readonly published: number;
  readonly logIdentity: LogIdentity;
  readonly log: FoundLog;
}

interface Tools {
  readonly applier: Applier;
  readonly publisher: TransactionalPublisher;
  readonly placement: PlacementWatch;
  readonly logIdentity: LogIdentity;
}

/**
 * Applies the records of one assigned partition and publishes their results.
 * States: open (made by `start`), then closed by `close`. Any failure but a temporary one of `#watchLog` is final for this object:
 * it is thrown, or reported by `assignment.restart`; then the partition starts again from the state in Kafka and Redis.
 */
export class PartitionIngest {
  readonly #pipeline: PublishPipeline;
  readonly #tasks: readonly RecurringTask[];
  /** Runs the steps on the boards, batches and `#keepUp`, strictly one after the other. */
  readonly #steps = pLimit(1);
  #published: number;

  private constructor(
    private readonly assignment: PartitionAssignment,
    private readonly services: IngestServices,
    private readonly tools: Tools,
    published: number,
  ) {
    this.#published = published;
    const { partition } = assignment;
    this.#pipeline = new PublishPipeline(
      (topic) => services.resultLog.maxBytes(partition, topic),
      (publication) => this.#publish(publication),
      (error) => assignment.restart(error),
      services.metrics.gauges.ranklog_outbox_results,
    );
    this.#tasks = [
      new RecurringTask(() => this.#keepUp(), KEEP_UP_EVERY_MS),
      new RecurringTask(() => this.#watchLog(), CHECK_LOG_EVERY_MS),
    ];
    for (const task of this.#tasks) task.start();
  }

  /**
   * Fences the previous publisher of the partition, and returns the first offset that some shard lacks or that is not published.
   * Records that are read again change nothing; their results come from the outbox.
   */
  static async start(
    assignment: PartitionAssignment,
    services: IngestServices,
  ): Promise<{ offset: number; ingest: PartitionIngest }> {
    const { partition } = assignment;
    const { resultLog, resync } = services;
    await resultLog.checkPartition(partition);
    const continuity = await resync.continuity();
    const publisher = await resultLog.openPublisher(partition);
    try {
      const start = await findStart(partition, services, continuity);
      const applier = new Applier(services, assignment, start);
      await applier.begin(start.published);
      const live = Math.max(start.published, ...start.appliedOffsets.map((offset) => offset + 1));
      const placement = new PlacementWatch(assignment, live, start.log);
      const tools = { applier, publisher, placement, logIdentity: start.logIdentity };
      const ingest = new PartitionIngest(assignment, services, tools, start.published);
      return { offset: start.offset, ingest };
    } catch (error) {
      resync.suspect(error);
      await publisher.close();
      throw error;
    }
  }

  /** Applies a batch. Returns when there is room for the next one; the results may be published later. */
  handle({ records, from, nextOffset, fetchedSince }: RecordBatch): Promise<void> {
    return this.#inTurn(async () => {
      if (fetchedSince > this.tools.logIdentity.checkedAt) await this.#checkLog();
      const position = { from, nextOffset, published: this.#published };
      await this.tools.applier.apply(records, position, (run) => this.#queueResults(run));
      this.#pipeline.flush();
      this.tools.logIdentity.applied(records);
    });
  }

  /** Publishes what is applied, if that is still possible, and closes the publisher. */
  async close(): Promise<void> {
    for (const task of this.#tasks) void task.stop();
    await this.#steps(() => undefined); // after all other steps
    await this.#pipeline.drain().catch(() => undefined); // reported by onFailure; the outbox keeps the results
    await this.tools.publisher.close();
  }

  async #queueResults({ through, items, boards, verdicts }: AppliedRun): Promise<void> {
    this.tools.placement.report(items, boards.live, this.services.misplaced);
    if (through < this.#published) return;
    const { partition } = this.assignment;
    const results = verdicts.map(({ verdict, read }) =>
      this.services.resultLog.encode(partition, verdict, read),
    );
    await this.#pipeline.add(results, through + 1);
  }

  async #publish(publication: Publication): Promise<void> {
    const { resultLog, deadLetters, metrics } = this.services;
    await resultLog
      .publish(this.tools.publisher, this.assignment.partition, publication)
      .finally(metrics.histograms.ranklog_publish_duration_seconds.startTimer());
    this.#published = publication.nextOffset;
    for (const letter of publication.deadLetters) deadLetters.published(letter);
    for (const [topic, { counts }] of publication.results)
      for (const [board, count] of counts)
        metrics.counters.ranklog_results_total.inc({ topic, board }, count);
  }

  async #keepUp(): Promise<void> {
    try {
      await this.#inTurn(() => this.tools.applier.keepUp(this.#published));
      await this.services.resync.logRecovered();
    } catch (error) {
      this.assignment.restart(toError(error));
    }
  }

  /** @throws WrongLogError */
  async #checkLog(): Promise<void> {
    const log = await this.tools.logIdentity.check(this.#published);
    this.tools.placement.look(log);
  }

  /** Runs concurrently with the batches, so a leader that does not answer can't delay them. Ignores temporary failures. */
  async #watchLog(): Promise<void> {
    try {
      await this.#checkLog();
    } catch (error) {
      if (error instanceof PermanentPartitionError) this.assignment.restart(error);
    }
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    return this.#steps(() =>
      step().catch((error: unknown) => {
        this.services.resync.suspect(error);
        throw error;
      }),
    );
  }
}

/** Finds the offset at which a partition continues. @throws StoreChangedError, WrongLogError */
async function findStart(
  partition: number,
  services: IngestServices,
  tokens: readonly string[],
): Promise<Start> {
  const { store, boards, resultLog } = services;
  const published = await resultLog.publishedPosition(partition);
  await boards.refresh();
  const appliedOffsets = await store.appliedOffsets(partition);
  for (const [shard, appliedOffset] of appliedOffsets.entries())
    if (
      appliedOffset + 1 < published &&
      !(await services.resync.isRecovering(shard, partition, published))
    ) {
      const why = `has lost applied events of partition ${partition}`;
      throw new StoreChangedError(shard, tokens[shard] ?? '', why);
    }
  const { logIdentity, log } = await LogIdentity.open(partition, services, published);
  // A partition of which nothing was ever read begins where the log begins now.
  const needed = Math.min(published, boards.firstNeeded(partition));
  const next = appliedOffsets.map((appliedOffset) =>
    published === 0 && appliedOffset < 0 ? log.start : Math.max(needed, appliedOffset + 1),
  );
  const offset = Math.min(published, ...next);
  // Offsets that are cut from the log can be left out if they are applied and their results are published.
  const isCut = offset < log.start && Math.min(...next) >= log.start;
  const skips = isCut && !(await store.hasUnpublished(partition, log.start));
  const start = { published, logIdentity, log, appliedOffsets, continuity: tokens };
  return { ...start, offset: skips ? log.start : offset };
}
