import { setTimeout as delay } from 'node:timers/promises';
import { Controller } from '@nestjs/common';
import pLimit from 'p-limit';
import { ProducerFencedError, type PartitionAssignment, type RecordBatch } from '#kafka-batch';
import { OnPartitionAssigned, OnPartitionReleased, OnRecordBatch } from '#kafka-batch/nest';
import { PartitionIngestFactory, type PartitionIngest } from './partition-ingest.js';
import { Resync } from './resync.js';

/** Limits concurrent starts, so that a rebalance does not flood Kafka and Redis. */
const MAX_CONCURRENT_STARTS = 16;
/** A start that takes longer no longer counts against the limit. */
const LONG_START_MS = 5_000;

/**
 * Opens a PartitionIngest at each start of an assigned partition, gives it the batches, and closes
 * it when the partition is released.
 */
@Controller()
export class IngestController {
  readonly #partitions = new Map<number, PartitionIngest>();
  /**
   * Partitions whose publisher another instance has fenced. We fence again only if the group says
   * that the partition is ours.
   */
  readonly #fenced = new Set<number>();

  readonly #starts = pLimit(MAX_CONCURRENT_STARTS);

  constructor(
    private readonly factory: PartitionIngestFactory,
    private readonly resync: Resync,
  ) {}

  @OnPartitionAssigned()
  assigned(assignment: PartitionAssignment): Promise<number> {
    return new Promise((resolve, reject) => {
      void this.#starts(() => {
        const started = this.#start(assignment).then(resolve, reject);
        return Promise.race([started, delay(LONG_START_MS, undefined, { ref: false })]);
      });
    });
  }

  @OnRecordBatch()
  async apply(batch: RecordBatch): Promise<void> {
    const ingest = this.#partitions.get(batch.partition);
    if (ingest === undefined)
      throw new Error(`partition ${batch.partition} got records while it was not started`);
    try {
      await ingest.handle(batch);
    } catch (error) {
      this.resync.suspect(error);
      throw error;
    }
  }

  @OnPartitionReleased()
  async released({ partition }: PartitionAssignment): Promise<void> {
    const ingest = this.#partitions.get(partition);
    this.#partitions.delete(partition);
    await ingest?.close();
  }

  async #start(assignment: PartitionAssignment): Promise<number> {
    const { partition, signal } = assignment;
    signal.throwIfAborted(); // the partition was lost while its start waited
    if (this.#fenced.has(partition) && !(await assignment.stillOurs()))
      throw new Error(
        `partition ${partition} is published by another instance; waiting for the group to settle`,
      );
    this.#fenced.delete(partition);
    const restart = (error: Error) => {
      if (error instanceof ProducerFencedError) this.#fenced.add(partition);
      this.resync.suspect(error);
      assignment.restart(error);
    };
    try {
      const { ingest, offset } = await this.factory.start({ ...assignment, restart });
      this.#partitions.set(partition, ingest);
      return offset;
    } catch (error) {
      this.resync.suspect(error);
      throw error;
    }
  }
}
