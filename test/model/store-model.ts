import { expect } from '@jest/globals';
import type {
  ApplyCall,
  ApplyEntry,
  LeaderChangeVerdict,
  PlayerEntry,
  Verdict,
} from '#board-store';
import { GenerationsModel } from './generations-model.js';
import type { OracleLeader } from './oracle.js';
import { oracleRecord } from './scenario-log.js';

/** What Redis should hold of one partition in one shard. */
export interface ShardPartition {
  appliedOffset: number;
  /** The published position. */
  published: number;
  /** Verdicts as the store first gave them, in the order of offset. */
  outbox: Verdict[];
  /** The recovery target while the partition is below it, else 0. */
  target: number;
}

/** The top of a view as last reported, and its text by `leadersText` of the oracle. */
interface LeaderReport {
  readonly version: number;
  readonly top: readonly OracleLeader[];
  readonly text: string;
}

/** A verdict as the oracle expects it, without the version, which Redis draws from its clock. */
export type ExpectedVerdict = Readonly<Record<string, unknown>> & {
  readonly kind: Verdict['kind'];
  readonly offset: number;
};

/** A view in which a call changed players, and the last record that changed one. */
interface Cause {
  readonly board: string;
  readonly view: string;
  readonly offset: number;
  /** Whether the board had no such view before the call. */
  readonly isNew: boolean;
  /** Whether the view had no ranked players before the call. */
  readonly wasEmpty: boolean;
}

/**
 * The expected content and answers of a store. Plain data, apart from the oracles, so that it can
 * be copied.
 */
export class StoreModel {
  constructor(
    readonly generations = new GenerationsModel(),
    private readonly partitions = new Map<string, ShardPartition>(),
    /** Leader reports, by `board view`. */
    private readonly reports = new Map<string, LeaderReport>(),
  ) {}

  copy(): StoreModel {
    const [partitions, reports] = structuredClone([this.partitions, this.reports] as const);
    return new StoreModel(this.generations.copy(), partitions, reports);
  }

  partition(shard: number, partition: number): ShardPartition {
    const name = `${shard}/${partition}`;
    const unknown = { appliedOffset: -1, published: 0, outbox: [], target: 0 };
    const known = this.partitions.get(name) ?? unknown;
    this.partitions.set(name, known);
    return known;
  }

  /**
   * Sets the recovery targets of a shard: a partition below its published position has lost
   * something.
   */
  recover(shard: number, positions: readonly number[]): void {
    for (const [partition, position] of positions.entries()) {
      const kept = this.partition(shard, partition);
      kept.published = Math.max(kept.published, position);
      const target = Math.max(position, kept.target);
      kept.target = kept.appliedOffset + 1 < target ? target : 0;
    }
  }

  /** Whether a call would leave out offsets that are not applied. */
  leavesGap({ shard, partition, from }: ApplyCall): boolean {
    return from > this.partition(shard, partition).appliedOffset + 1;
  }

  isRecovering(shard: number): boolean {
    return [...this.partitions].some(
      ([name, { target }]) => name.startsWith(`${shard}/`) && target > 0,
    );
  }

  /**
   * Applies entries that are new to the store; returns the verdicts without their versions. Either
   * all entries are below the published position (`muted`), or none is.
   */
  judge(
    entries: readonly ApplyEntry[],
    { partition, muted, isLast = false }: { partition: number; muted: boolean; isLast?: boolean },
  ): ExpectedVerdict[] {
    const areAllMarked = entries
      .map((entry) => entry.kind !== 'player' || this.#mark(entry))
      .every(Boolean);
    const verdicts: ExpectedVerdict[] = [];
    const causes = new Map<string, Cause>();
    for (const entry of entries) {
      if (entry.kind === 'deadLetter') {
        verdicts.push({ ...entry });
        continue;
      }
      const { board, offset } = entry;
      const oracle = this.generations.oracle(board);
      const { views } = oracle.memory(board);
      const sizes = new Map([...views].map(([view, { placed }]) => [view, placed.size]));
      const { verdict, moved } =
        entry.kind === 'event'
          ? oracle.apply(board, entry.event, partition)
          : oracle.settle(board, oracleRecord(entry), viewsOf(entry), isLast && areAllMarked);
      for (const view of moved) {
        const size = sizes.get(view);
        const before = { isNew: size === undefined, wasEmpty: (size ?? 0) === 0 };
        causes.set(`${board} ${view}`, {
          ...before,
          ...causes.get(`${board} ${view}`),
          board,
          view,
          offset,
        });
      }
      if (verdict?.kind === 'rankChange') verdicts.push({ ...verdict, offset, board });
      if (verdict?.kind === 'deadLetter')
        verdicts.push({ ...verdict, offset, detail: expect.stringMatching(/./) });
    }
    const leaderChanges = [...causes.values()].flatMap((cause) => this.#leaderChange(cause));
    if (!muted) return [...verdicts, ...leaderChanges];
    for (const { board, view } of causes.values())
      if (this.generations.oracle(board).reportsLeaders(board, view))
        this.reports.delete(`${board} ${view}`);
    return [];
  }

  /** Marks a player record. Returns false if it is newly unsettled. */
  #mark(entry: PlayerEntry): boolean {
    const oracle = this.generations.oracle(entry.board);
    const wasMarked = oracle.isUnsettled(entry.board, oracleRecord(entry));
    return oracle.mark(entry.board, oracleRecord(entry)) === wasMarked;
  }

  /**
   * Returns the leader change of a view; none if the top equals the leader report. Without one, a
   * view that has lost its last player is reported. A view that expired later in the same call is
   * still reported. A leader report of a view that is new to the board comes from an earlier
   * generation, and is ignored.
   */
  #leaderChange({ board, view, offset, isNew, wasEmpty }: Cause): ExpectedVerdict[] {
    const oracle = this.generations.oracle(board);
    const top = oracle.leaders(board, view);
    const last = isNew ? undefined : this.reports.get(`${board} ${view}`);
    const isReported = oracle.reportsLeaders(board, view);
    const isEmptied = last === undefined && !wasEmpty && top.length === 0;
    const isKnown = oracle.leadersText(board, view) === (last?.text ?? '') && !isEmptied;
    if (!isReported || isKnown) return [];
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    const since = last?.version ?? null;
    return [{ kind: 'leaderChange', offset, board, view, since, top, before }];
  }

  /** Notes a leader report that the store has made. */
  report(board: string, { view, version, top }: LeaderChangeVerdict): void {
    const text = this.generations.oracle(board).leadersText(board, view);
    this.reports.set(`${board} ${view}`, { version, top, text });
  }

  /** Deletes all leader reports of a board. */
  deleteReports(board: string): void {
    for (const view of this.reportedViews(board)) this.reports.delete(`${board} ${view}`);
  }

  /**
   * After a generation with these views is swept: deletes the leader reports of views that the live
   * one lacks.
   */
  deleteReportsOf(board: string, views: Iterable<string>): void {
    const { views: known } = this.generations.oracle(board).memory(board);
    for (const view of views) if (!known.has(view)) this.reports.delete(`${board} ${view}`);
  }

  /** Resets a shard as if it was emptied; published results stay published. */
  reset(shard: number): void {
    for (const [name, partition] of this.partitions)
      if (name.startsWith(`${shard}/`)) Object.assign(partition, { appliedOffset: -1, outbox: [] });
  }

  /** Views that have a leader report. */
  reportedViews(board: string): string[] {
    const names = [...this.reports.keys()].filter((name) => name.startsWith(`${board} `));
    return names.map((name) => name.slice(board.length + 1)).sort();
  }

  /** Removes views that have expired; returns how many. */
  sweep(board: string): number {
    const gone = this.generations.oracle(board).sweep(board);
    for (const view of gone) this.reports.delete(`${board} ${view}`);
    return gone.length;
  }
}

function viewsOf({ views = [] }: PlayerEntry): string[] {
  return views.map(({ view }) => view);
}
