import { Injectable } from '@nestjs/common';
import { ContinuityStore, type RecordIdentity } from '#board-store';
import type { TopicPartition } from '#kafka-batch';
import type { AppliedRun } from './applier.js';
import { MisplacedRecords, PlacementWatch } from './misplaced-records.js';
import { ScoreLog } from './score-log.js';

interface LogServices {
  readonly continuity: ContinuityStore;
  readonly scoreLog: ScoreLog;
  readonly misplaced: MisplacedRecords;
}

/** A successful check that the log is the one that was applied. */
interface LogCheck {
  /** When the check began. */
  readonly at: number;
  /**
   * The last applied record at that time; if there was none, the last record of the next run that
   * has any.
   */
  last: RecordIdentity | undefined;
}

/** How far a partition has come. */
interface Reached {
  readonly published: number;
  /** The first offset that was neither applied nor published before. */
  readonly firstNew: number;
}

@Injectable()
export class PartitionLogFactory {
  readonly #services: LogServices;

  constructor(continuity: ContinuityStore, scoreLog: ScoreLog, misplaced: MisplacedRecords) {
    this.#services = { continuity, scoreLog, misplaced };
  }

  /**
   * Checks the log when its partition starts.
   * @throws WrongLogError
   */
  async open(
    topicPartition: TopicPartition,
    { published, firstNew }: Reached,
  ): Promise<PartitionLog> {
    const { continuity, scoreLog } = this.#services;
    const { partition } = topicPartition;
    const at = performance.now();
    const last = await continuity.lastRecord(partition);
    const found = await scoreLog.check(partition, { published, last });
    // If the topic was recreated unnoticed, the last record may be from the new log. An older
    // record reveals that.
    const older = await continuity.checkedRecord(partition);
    if (older !== undefined && older.offset !== last?.offset)
      await scoreLog.check(partition, { published, last: older });

    const placement = new PlacementWatch(topicPartition, firstNew, found);
    const opened = { partition, start: found.start, placement };
    return new PartitionLog(this.#services, opened, { at, last });
  }
}

/**
 * The log of one partition. Checks that it is still the one that was applied, because its topic may
 * be deleted and created again. Also reports misplaced records.
 */
export class PartitionLog {
  /** The first offset when the partition started. */
  readonly start: number;
  readonly #partition: number;
  readonly #placement: PlacementWatch;
  #checked: LogCheck;
  /** The last applied record. */
  #last: RecordIdentity | undefined;

  constructor(
    private readonly services: LogServices,
    opened: {
      readonly partition: number;
      readonly start: number;
      readonly placement: PlacementWatch;
    },
    checked: LogCheck,
  ) {
    this.start = opened.start;
    this.#partition = opened.partition;
    this.#placement = opened.placement;
    this.#checked = checked;
    this.#last = checked.last;
  }

  /** When the last successful check began. */
  get checkedAt(): number {
    return this.#checked.at;
  }

  /** Notes a run that was applied. */
  applied({ items, boards, lastRecord }: AppliedRun): void {
    this.#placement.report(items, boards.live, this.services.misplaced);
    this.#last = lastRecord ?? this.#last;
    this.#checked.last ??= this.#last;
  }

  /**
   * Reads again the record that was the last applied one at the previous check. A later record
   * proves nothing: it could itself be from another log.
   * @throws WrongLogError
   */
  async check(published: number): Promise<void> {
    const next = { at: performance.now(), last: this.#last };
    const { last } = this.#checked;
    const { continuity, scoreLog } = this.services;
    if (last !== undefined) {
      const stored = continuity.storeCheckedRecord(this.#partition, last);
      await stored.catch(() => undefined); // the next check stores a later record
    }
    const found = await scoreLog.check(this.#partition, { published, last });
    this.#checked = next;
    this.#placement.look(found);
  }
}
