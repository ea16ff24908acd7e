import { toError } from '#errors';
import { logRanges, type LogRange } from '#kafka-batch';
import { IS_IT_RUNNING, type HistoryParts } from './log-history.js';
import { AppliedBeyondLogError } from './run-errors.js';

const CHECK_EVERY_MS = 1_000;
/** More than one: a broker that no longer leads a partition may report an old end of its log. */
const CHECKS_UNTIL_SURE = 3;
const WARN_AFTER_MS = 10_000;

/** A partition that the shadow has not read up to its live applied offset (`live`). */
interface BehindLive {
  readonly partition: number;
  readonly live: number;
}

/**
 * Finds out why a shadow makes no progress: warns once for each stall, and throws if the log will
 * never have the missing records.
 */
export class StallWatch {
  #movedAt = performance.now();
  #checkedAt = performance.now();
  /** How many checks in a row found a live applied offset beyond the end of the log. */
  #beyond = 0;
  #hasWarned = false;

  constructor(
    private readonly parts: Pick<HistoryParts, 'kafka' | 'topic' | 'logger'>,
    private readonly board: string,
  ) {}

  /** Notes progress. */
  moved(): void {
    this.#movedAt = performance.now();
    this.#hasWarned = false;
  }

  /**
   * Checks the log, at most once a second, and warns if nothing has moved for ten seconds.
   * @throws AppliedBeyondLogError
   */
  async check(behind: readonly BehindLive[]): Promise<void> {
    const now = performance.now();
    if (behind.length > 0 && now - this.#checkedAt >= CHECK_EVERY_MS) {
      this.#checkedAt = now;
      await this.#checkLog(behind);
    }

    const stalledMs = now - this.#movedAt;
    if (stalledMs < WARN_AFTER_MS || this.#hasWarned) return;

    this.#hasWarned = true;
    const seconds = Math.round(stalledMs / 1_000);
    const cause =
      behind.length > 0
        ? `records of the log: none has arrived for ${seconds} s`
        : `live ingest, which has made no progress for ${seconds} s: ${IS_IT_RUNNING}`;
    this.parts.logger.warn(`board "${this.board}" waits for ${cause}`);
  }

  /** Throws if several checks in a row find a live applied offset beyond the end of the log. */
  async #checkLog(behind: readonly BehindLive[]): Promise<void> {
    const { kafka, topic, logger } = this.parts;
    let ranges: ReadonlyMap<number, LogRange>;
    try {
      ranges = await logRanges(kafka, topic);
    } catch (error) {
      // Kafka is unreachable; the reconciliation waits for it.
      logger.debug(`could not read the ends of the log: ${toError(error).message}`);
      return;
    }

    const places = behind.map(({ partition, live }) => ({
      partition,
      appliedOffset: live,
      logEnd: ranges.get(partition)?.end ?? Infinity, // a partition that was added just now
    }));
    const beyond = places.filter(({ appliedOffset, logEnd }) => appliedOffset >= logEnd);
    if (beyond.length === 0) {
      this.#beyond = 0;
      return;
    }

    this.#beyond += 1;
    if (this.#beyond >= CHECKS_UNTIL_SURE) throw new AppliedBeyondLogError(this.board, beyond);
  }
}
