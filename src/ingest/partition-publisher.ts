import { Injectable } from '@nestjs/common';
import type { PartitionAssignment, TransactionalPublisher } from '#kafka-batch';
import { Metrics } from '../infra/metrics.js';
import type { AppliedRun } from './applier.js';
import { DeadLetterReport } from './dead-letter-report.js';
import { PublishPipeline, type Publication } from './publish-pipeline.js';
import { ResultLog } from './result-log.js';

type Assignment = Pick<PartitionAssignment, 'partition' | 'restart'>;

interface PublisherServices {
  readonly resultLog: ResultLog;
  readonly deadLetters: DeadLetterReport;
  readonly metrics: Metrics;
}

/** Opens the publishers of partitions. */
@Injectable()
export class PublisherFactory {
  readonly #services: PublisherServices;

  constructor(resultLog: ResultLog, deadLetters: DeadLetterReport, metrics: Metrics) {
    this.#services = { resultLog, deadLetters, metrics };
  }

  /** Fences the previous publisher of the partition. @throws NeedsOperatorError */
  async open(assignment: Assignment): Promise<PartitionPublisher> {
    const { resultLog } = this.#services;
    const { partition } = assignment;
    await resultLog.checkPartition(partition);
    const publisher = await resultLog.openPublisher(partition);
    try {
      const published = await resultLog.publishedPosition(partition);
      return new PartitionPublisher(this.#services, assignment, publisher, published);
    } catch (error) {
      await publisher.close();
      throw error;
    }
  }
}

/**
 * Publishes the results of one partition while the next records are applied. A failure restarts the
 * partition; `close` ends the publisher.
 */
export class PartitionPublisher {
  readonly #pipeline: PublishPipeline;
  #published: number;

  constructor(
    private readonly services: PublisherServices,
    private readonly assignment: Assignment,
    private readonly publisher: TransactionalPublisher,
    published: number,
  ) {
    this.#published = published;
    this.#pipeline = new PublishPipeline(
      (topic) => services.resultLog.maxBytes(assignment.partition, topic),
      (publication) => this.#publish(publication),
      (error) => assignment.restart(error),
      services.metrics.gauges.ranklog_outbox_results,
    );
  }

  /** The published position. */
  get published(): number {
    return this.#published;
  }

  /** Takes the results of a run, unless they are published. Resolves once there is room for more. */
  async add({ through, verdicts }: AppliedRun): Promise<void> {
    if (through < this.#published) return;
    const results = verdicts.map(({ verdict, read }) =>
      this.services.resultLog.encode(this.assignment.partition, verdict, read),
    );
    await this.#pipeline.add(results, through + 1);
  }

  /** Publishes what was added, even if it is little. */
  flush(): void {
    this.#pipeline.flush();
  }

  /** Publishes what was added, if that is still possible. */
  async close(): Promise<void> {
    await this.#pipeline.drain().catch(() => undefined); // the partition was restarted; the outbox keeps the results
    await this.publisher.close();
  }

  async #publish(publication: Publication): Promise<void> {
    const { resultLog, deadLetters, metrics } = this.services;
    await resultLog
      .publish(this.publisher, this.assignment.partition, publication)
      .finally(metrics.histograms.ranklog_publish_duration_seconds.startTimer());
    this.#published = publication.nextOffset;
    for (const letter of publication.deadLetters) deadLetters.published(letter);
    for (const [topic, { counts }] of publication.results)
      for (const [board, count] of counts)
        metrics.counters.ranklog_results_total.inc({ topic, board }, count);
  }
}
