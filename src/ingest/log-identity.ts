import type { ContinuityStore, RecordIdentity } from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import { recordIdentity, type FoundLog, type ScoreLog } from './score-log.js';

interface Services {
  readonly continuity: Pick<ContinuityStore, 'lastRecord' | 'checkedRecord' | 'storeCheckedRecord'>;
  readonly scoreLog: Pick<ScoreLog, 'check'>;
}

/** A successful check that the log is the one that was applied. */
interface LogCheck {
  /** When the check began. */
  readonly at: number;
  /** The last applied record at that time; if there was none, that of the first batch since. */
  last: RecordIdentity | undefined;
}

/**
 * Checks that the log of a partition is still the one that was applied: its topic may be deleted
 * and created again.
 */
export class LogIdentity {
  #checked: LogCheck;
  /** The last applied record. */
  #last: RecordIdentity | undefined;

  private constructor(
    private readonly partition: number,
    private readonly services: Services,
    checked: LogCheck,
  ) {
    this.#checked = checked;
    this.#last = checked.last;
  }

  /** Checks the log when its partition starts. @throws WrongLogError */
  static async open(
    partition: number,
    services: Services,
    published: number,
  ): Promise<{ logIdentity: LogIdentity; log: FoundLog }> {
    const { continuity, scoreLog } = services;
    const last = await continuity.lastRecord(partition);
    const checked = { at: performance.now(), last };
    const log = await scoreLog.check(partition, { published, last });
    // The last record may be from a recreated log that went unnoticed: an older one reveals that.
    const older = await continuity.checkedRecord(partition);
    if (older !== undefined && older.offset !== last?.offset)
      await scoreLog.check(partition, { published, last: older });
    return { logIdentity: new LogIdentity(partition, services, checked), log };
  }

  /** When the last successful check began. */
  get checkedAt(): number {
    return this.#checked.at;
  }

  /** Takes records that were applied. */
  applied(records: readonly KafkaRecord[]): void {
    const last = records.at(-1);
    if (last !== undefined) this.#last = recordIdentity(last);
    this.#checked.last ??= this.#last;
  }

  /**
   * Reads again the record that was the last applied one at the previous check. A later record
   * proves nothing: it could itself be from another log. @throws WrongLogError
   */
  async check(published: number): Promise<FoundLog> {
    const next = { at: performance.now(), last: this.#last };
    const { last } = this.#checked;
    const { continuity, scoreLog } = this.services;
    if (last !== undefined) {
      const stored = continuity.storeCheckedRecord(this.partition, last);
      await stored.catch(() => undefined); // the next check stores a later record
    }
    const log = await scoreLog.check(this.partition, { published, last });
    this.#checked = next;
    return log;
  }
}
