import { Injectable } from '@nestjs/common';
import { Logger } from '../infra/logger.js';
import { Metrics } from '../infra/metrics.js';
import { RepeatedWarnings } from '../infra/repeated-warnings.js';

/** `board` is empty unless it was live; `id` is the id of the record. */
export type ReportedDeadLetter = Readonly<Record<'reason' | 'board' | 'id' | 'detail', string>>;

/**
 * Counts the dead letters that this process has published. Logs each reason with its count since
 * the last log line.
 */
@Injectable()
export class DeadLetterReport {
  readonly #warnings = new RepeatedWarnings<ReportedDeadLetter>((letter, count) => {
    this.logger.warn(`dead letters: ${count} ${letter.reason}`, { count, ...letter });
  });

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  published(letter: ReportedDeadLetter): void {
    const { reason, board } = letter;
    this.metrics.counters.ranklog_dead_letters_total.inc({ reason, board });
    this.#warnings.count(reason, letter);
  }
}
