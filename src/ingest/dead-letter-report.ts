import { Injectable } from '@nestjs/common';
import { Logger } from '../infra/logger.js';
import { Metrics } from '../metrics/metrics.js';

/** `board` is empty unless it was live; `id` is that of the record. */
export type ReportedDeadLetter = Readonly<Record<'reason' | 'board' | 'id' | 'detail', string>>;

/** The least time between two log lines of a reason. */
const LOG_EVERY_MS = 10_000;

/** Counts the dead letters that this process has published, and logs each reason with its number since its last line. */
@Injectable()
export class DeadLetterReport {
  /** By reason: the number since its last line, for LOG_EVERY_MS after that line. */
  readonly #since = new Map<string, number>();

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  published(letter: ReportedDeadLetter): void {
    const { reason, board } = letter;
    this.metrics.counters.ranklog_dead_letters_total.inc({ reason, board });
    const since = this.#since.get(reason);
    if (since === undefined) this.#log(letter, 1);
    else this.#since.set(reason, since + 1);
  }

  #log(letter: ReportedDeadLetter, count: number): void {
    this.logger.warn(`dead letters: ${count} ${letter.reason}`, { count, ...letter });
    this.#since.set(letter.reason, 0);
    setTimeout(() => {
      const since = this.#since.get(letter.reason) ?? 0;
      this.#since.delete(letter.reason);
      if (since > 0) this.#log(letter, since);
    }, LOG_EVERY_MS).unref();
  }
}
