import { Injectable } from '@nestjs/common';
import type { BoardDefinition } from '#board';
import type { Boards } from '#board-store';
import type { TopicPartition } from '#kafka-batch';
import { Logger } from '../infra/logger.js';
import { Metrics } from '../infra/metrics.js';
import { RepeatedWarnings } from '../infra/repeated-warnings.js';
import { misplacementOf, type Misplacement } from './misplacement.js';
import type { ReadRecord } from './read-record.js';
import type { FoundLog } from './score-log.js';

interface Warned {
  readonly reason: Misplacement;
  readonly board: string;
  /** The place of the record in the log. */
  readonly id: string;
  /** Whether the board drops repeated events. */
  readonly deduplicates: boolean;
}

const REASONS: Readonly<Record<Misplacement, string>> = {
  key: 'their key is not their player id',
  partition: "they are not in the partition that Kafka's default partitioner gives",
};

/**
 * Counts and logs misplaced records: score events whose key is not their player id, or that are in
 * another partition than the one that Kafka's default partitioner gives.
 */
@Injectable()
export class MisplacedRecords {
  readonly #warnings = new RepeatedWarnings<Warned>((warned, count) => {
    const { reason, board, deduplicates } = warned;
    const effect = deduplicates ? `, so a repeated event may count twice on board "${board}"` : '';
    this.logger.warn(
      `misplaced records: ${count}: ${REASONS[reason]}${effect}; see "Misplaced records" in ` +
        'docs/operations.md',
      { count, ...warned },
    );
  });

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Reports a misplaced record of a board. `id` is its place in the log. */
  found(reason: Misplacement, definition: BoardDefinition, id: string): void {
    const { board } = definition;
    this.metrics.counters.ranklog_misplaced_records_total.inc({ reason, board });
    const deduplicates = definition.deduplicateMs !== undefined;
    this.#warnings.count(`${reason} ${deduplicates}`, { reason, board, id, deduplicates });
  }
}

/**
 * Finds the misplaced records of a partition. Skips retries, which go to the partition of their
 * original. For records from before the present number of partitions was first seen, checks only
 * the key: their producer may have used another number of partitions.
 */
export class PlacementWatch {
  #partitions: number;
  /** The end of the log when the present number of partitions was first seen. */
  #since: number;

  /** `firstNew` is the first offset that was neither applied nor published before. */
  constructor(
    private readonly watched: TopicPartition,
    private readonly firstNew: number,
    { partitions, end }: FoundLog,
  ) {
    this.#partitions = partitions;
    this.#since = end;
  }

  /** Notes the result of a check of the log. */
  look({ partitions, end }: FoundLog): void {
    if (partitions === this.#partitions) return;

    this.#partitions = partitions;
    this.#since = end;
  }

  /** Reports misplaced records among applied ones. */
  report(items: readonly ReadRecord[], boards: Boards['live'], misplaced: MisplacedRecords): void {
    const { topic, partition } = this.watched;
    const place = { partition, partitions: this.#partitions };
    for (const { record, event, entry } of items) {
      if (entry.kind !== 'event' || event === undefined) continue;
      if (event.retryOf !== undefined) continue;
      if (record.offset < this.firstNew) continue;

      const reason = misplacementOf(record, event.playerId, place);
      if (reason === undefined) continue;
      if (reason === 'partition' && record.offset < this.#since) continue;

      const definition = boards.get(event.board)?.definition;
      if (definition !== undefined)
        misplaced.found(reason, definition, `${topic}/${partition}/${record.offset}`);
    }
  }
}
