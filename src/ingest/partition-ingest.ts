import type { BoardStore, RecordIdentity } from '#board-store';
import {
  PermanentPartitionError,
  type PartitionAssignment,
  type RecordBatch,
  type TransactionalPublisher,
} from '#kafka-batch';
import { Applier, type AppliedRun, type ApplierStart } from './applier.js';
import type { LiveBoards } from './live-boards.js';
import { StoreChangedError, type Resync } from './resync.js';
import type { PartitionWaits } from './partition-waits.js';
import { PublishPipeline, type Publication } from './publish-pipeline.js';
import type { ResultLog } from './result-log.js';
import { identityOf, type ScoreLog } from './score-log.js';

/** How often an idle partition tells all shards where it stands. */
const KEEP_UP_EVERY_MS = 1_000;
/** How often to check that the log is still the applied one, even without a sign of another. */
const CHECK_LOG_EVERY_MS = 10_000;

/** What a partition works with; shared by all partitions of the process. A class, so that Nest can inject it. */
export abstract class IngestServices {
  abstract readonly store: BoardStore;
  abstract readonly boards: LiveBoards;
  abstract readonly resync: Resync;
  abstract readonly waits: PartitionWaits;
  abstract readonly scoreLog: ScoreLog;
  abstract readonly resultLog: ResultLog;
}

/** A check that found the log to be the applied one. */
interface LogCheck {
  /** When it began. */
  readonly at: number;
  /** The last applied record at that time; one of the first records since, if there was none. */
  last: RecordIdentity | undefined;
}

/** What belongs to one partition alone. */
interface Tools {
  readonly applier: Applier;
  readonly publisher: TransactionalPublisher;
  readonly onPublishFailure: (error: Error) => void;
}

/**
 * One partition while it is ours: applies its records and publishes their results.
 *
 * States: open (made by `start`), then closed by `close`. Any failure is final for this object: it is reported by
 * `assignment.restart` or thrown, and the partition is started anew from what Kafka and Redis say then.
 */
export class PartitionIngest {
  readonly #pipeline: PublishPipeline;
  readonly #timers: readonly NodeJS.Timeout[];
  #isKeepingUp = false;
  /** The last step on the boards: batches and keeping up are strictly one after the other. */
  #step: Promise<void> = Promise.resolve();

  #published: number;
  #checked: LogCheck;
  /** The last applied record. */
  #last: RecordIdentity | undefined;

  private constructor(
    private readonly assignment: PartitionAssignment,
    private readonly services: IngestServices,
    private readonly tools: Tools,
    { published, checked }: { readonly published: number; readonly checked: LogCheck },
  ) {
    this.#published = published;
    this.#checked = checked;
    this.#last = checked.last;
    this.#pipeline = new PublishPipeline(
      (publication) => this.#publish(publication),
      (error) => {
        tools.onPublishFailure(error);
        assignment.restart(error);
      },
    );
    this.#timers = [
      setInterval(() => void this.#keepUp(), KEEP_UP_EVERY_MS).unref(),
      setInterval(() => void this.#watchLog(), CHECK_LOG_EVERY_MS).unref(),
    ];
  }

  /**
   * Fences whoever had the partition before, and learns where to go on: from the first offset that is either not in
   * every shard or not published. What is re-read changes nothing, and its results come from the outbox. A partition of
   * which nothing was ever read begins with what its log still holds.
   */
  static async start(
    assignment: PartitionAssignment,
    services: IngestServices,
    onPublishFailure: (error: Error) => void,
  ): Promise<{ offset: number; ingest: PartitionIngest }> {
    const { partition } = assignment;
    const { resultLog, resync, waits } = services;
    await resultLog.checkPartition(partition);
    const continuity = await resync.continuity();
    const publisher = await resultLog.openPublisher(partition);
    try {
      const { published, checked, ...start } = await findStart(partition, services, continuity);
      const applier = new Applier(services, partition, start, waits.of(assignment));
      await applier.begin(published);
      const tools = { applier, publisher, onPublishFailure };
      const ingest = new PartitionIngest(assignment, services, tools, { published, checked });
      return { offset: start.offset, ingest };
    } catch (error) {
      resync.suspect(error);
      await publisher.close();
      throw error;
    }
  }

  /** Applies a batch; returns when there is room for the next, though its results may not be published yet. */
  handle({ records, from, nextOffset, inSightSince }: RecordBatch): Promise<void> {
    return this.#inTurn(async () => {
      if (inSightSince > this.#checked.at) await this.#checkLog();
      const position = { from, nextOffset, published: this.#published };
      await this.tools.applier.apply(records, position, (run) => this.#handOver(run));
      const last = records.at(-1);
      if (last !== undefined) this.#last = identityOf(last);
      this.#checked.last ??= this.#last;
    });
  }

  /** Publishes what is applied, as far as that is still possible, and lets go of the producer. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#step.catch(() => undefined); // reported by the batch that failed
    await this.#pipeline.drain().catch(() => undefined); // reported by onFailure; the outbox keeps the results
    await this.tools.publisher.close();
  }

  async #handOver({ through, verdicts }: AppliedRun): Promise<void> {
    if (through < this.#published) return;
    const { partition } = this.assignment;
    const results = verdicts.map(({ verdict, read }) =>
      this.services.resultLog.encode(partition, verdict, read),
    );
    await this.#pipeline.add({ results, nextOffset: through + 1 });
  }

  async #publish(publication: Publication): Promise<void> {
    const { partition } = this.assignment;
    await this.services.resultLog.publish(this.tools.publisher, partition, publication);
    this.#published = publication.nextOffset;
  }

  async #keepUp(): Promise<void> {
    if (this.#isKeepingUp) return; // behind a batch that takes its time
    this.#isKeepingUp = true;
    try {
      await this.#inTurn(() => this.tools.applier.keepUp(this.#published));
      await this.services.resync.logRecovered();
    } catch (error) {
      this.assignment.restart(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isKeepingUp = false;
    }
  }

  /**
   * Reads again the record that was the last applied one at the check before: a later one could be of another log, too.
   * @throws LogEndsError, OtherLogError
   */
  async #checkLog(): Promise<void> {
    const next = { at: performance.now(), last: this.#last };
    const { last } = this.#checked;
    const { partition } = this.assignment;
    if (last !== undefined) {
      const kept = this.services.resync.keepCheckedRecord(partition, last);
      await kept.catch(() => undefined); // the next check keeps a later one
    }
    await this.services.scoreLog.check(partition, { published: this.#published, last });
    this.#checked = next;
  }

  /** Beside the batches: a leader that does not answer must not delay them. Passing trouble is left to the next check. */
  async #watchLog(): Promise<void> {
    try {
      await this.#checkLog();
    } catch (error) {
      if (error instanceof PermanentPartitionError) this.assignment.restart(error);
    }
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const next = this.#step
      .catch(() => undefined)
      .then(step)
      .catch((error: unknown) => {
        this.services.resync.suspect(error);
        throw error;
      });
    this.#step = next;
    return next;
  }
}

/** From where a partition goes on, and what Redis says of it. @throws StoreChangedError, LogEndsError, OtherLogError */
async function findStart(
  partition: number,
  { store, boards, resultLog, resync, scoreLog }: IngestServices,
  continuity: readonly string[],
): Promise<ApplierStart & { readonly published: number; readonly checked: LogCheck }> {
  const published = Math.max(
    await resultLog.publishedPosition(partition),
    await store.publishedPosition(partition),
  );
  await boards.refresh();
  const appliedOffsets = await store.appliedOffsets(partition);
  for (const [shard, appliedOffset] of appliedOffsets.entries())
    if (appliedOffset + 1 < published && !(await resync.isRecovering(shard, partition, published)))
      throw new StoreChangedError(
        shard,
        continuity[shard] ?? '',
        `has lost applied events of partition ${partition}`,
      );
  const last = await resync.lastRecord(partition);
  const checked = { at: performance.now(), last };
  const log = await scoreLog.check(partition, { published, last });
  // The last record may be of another log that was not noticed; an older one shows it.
  const found = await resync.checkedRecord(partition);
  if (found !== undefined && found.offset !== last?.offset)
    await scoreLog.check(partition, { published, last: found });
  // Where nothing was ever read, the log begins with what it still holds.
  const isUntouched = (appliedOffset: number) => published === 0 && appliedOffset < 0;
  const needed = Math.min(published, boards.firstNeeded(partition));
  const applied = appliedOffsets.map((appliedOffset) =>
    isUntouched(appliedOffset) ? log.start : Math.max(needed, appliedOffset + 1),
  );
  const known = Math.min(published, ...applied);
  const isBehind = known < log.start && Math.min(...applied) >= log.start;
  const isDone = isBehind && !(await store.hasUnpublished(partition, log.start));
  return { published, checked, appliedOffsets, continuity, offset: isDone ? log.start : known };
}
