import { expect } from '@jest/globals';
import type { ApplyEntry, LeaderChangeVerdict, Verdict } from '#board-store';
import type { Oracle, OracleLeader } from './oracle.js';

/** What Redis should hold of one partition in one shard. */
export interface ShardPartition {
  appliedOffset: number;
  published: number;
  /** Verdicts as the store first gave them, in the order of offset. */
  outbox: Verdict[];
  /** The recovery target while the partition is below it, else 0. */
  target: number;
}

/** The top of a view as last reported, and that as the store keeps it. */
interface LeaderReport {
  readonly version: number;
  readonly top: readonly OracleLeader[];
  readonly text: string;
}

/** What live boards are to be: one oracle for all of them, or those of their generations. */
export interface LiveOracle extends Pick<
  Oracle,
  'apply' | 'leaders' | 'leadersText' | 'sweep' | 'memory'
> {
  copy(): this;
}

/** A verdict as the oracle expects it: it can't know the version, which Redis draws from its clock. */
export type ExpectedVerdict = Readonly<Record<string, unknown>> & {
  readonly kind: Verdict['kind'];
  readonly offset: number;
};

/** What a store should hold, and what its calls should answer. Plain data beside the oracle, so that it can be copied. */
export class StoreModel<O extends LiveOracle = LiveOracle> {
  constructor(
    readonly oracle: O,
    private readonly partitions = new Map<string, ShardPartition>(),
    /** By `board view`. */
    private readonly reports = new Map<string, LeaderReport>(),
  ) {}

  copy(): StoreModel<O> {
    const [partitions, reports] = structuredClone([this.partitions, this.reports] as const);
    return new StoreModel(this.oracle.copy(), partitions, reports);
  }

  partition(shard: number, partition: number): ShardPartition {
    const name = `${shard}/${partition}`;
    const known = this.partitions.get(name) ?? {
      appliedOffset: -1,
      published: 0,
      outbox: [],
      target: 0,
    };
    this.partitions.set(name, known);
    return known;
  }

  /** What a comparison with Kafka notes: who is below the published position has lost something. */
  recover(shard: number, positions: readonly number[]): void {
    for (const [partition, position] of positions.entries()) {
      const kept = this.partition(shard, partition);
      kept.published = Math.max(kept.published, position);
      const target = Math.max(position, kept.target);
      kept.target = kept.appliedOffset + 1 < target ? target : 0;
    }
  }

  /** Whether a run that begins at `from` would leave out offsets that are not applied. */
  leavesGap(shard: number, partition: number, from: number): boolean {
    return from > this.partition(shard, partition).appliedOffset + 1;
  }

  isRecovering(shard: number): boolean {
    return [...this.partitions].some(
      ([name, { target }]) => name.startsWith(`${shard}/`) && target > 0,
    );
  }

  /**
   * Applies entries that are new to the store; answers the verdicts but for their versions. All of them lie below the
   * published position (`muted`), or none does.
   */
  judge(
    entries: readonly ApplyEntry[],
    { partition, muted }: { partition: number; muted: boolean },
  ): ExpectedVerdict[] {
    const verdicts: ExpectedVerdict[] = [];
    const causes = new Map<string, { board: string; view: string; offset: number }>();
    const known = new Set(
      entries.flatMap((entry) =>
        entry.kind === 'event'
          ? [...this.oracle.memory(entry.board).views.keys()].map(
              (view) => `${entry.board} ${view}`,
            )
          : [],
      ),
    );
    for (const entry of entries) {
      if (entry.kind === 'deadLetter') {
        verdicts.push({ ...entry });
        continue;
      }
      const { board, offset } = entry;
      const { verdict, moved } = this.oracle.apply(board, entry.event, partition);
      for (const view of moved) causes.set(`${board} ${view}`, { board, view, offset });
      if (verdict?.kind === 'rankChange') verdicts.push({ ...verdict, offset, board });
      if (verdict?.kind === 'deadLetter')
        verdicts.push({ ...verdict, offset, detail: expect.stringMatching(/./) });
    }
    if (muted) {
      for (const { board, view } of causes.values())
        if (this.oracle.leaders(board, view).length > 0) this.reports.delete(`${board} ${view}`);
      return [];
    }
    const leaderChanges = [...causes].flatMap(([name, cause]) =>
      this.#leaderChange(cause, known.has(name)),
    );
    return [...verdicts, ...leaderChanges];
  }

  /**
   * None when the top is the one last reported. A view that expired later in its call is reported all the same. One that the
   * board did not have (`isKnown` is false) was reported by an earlier generation, if at all: that does not count.
   */
  #leaderChange(
    cause: { board: string; view: string; offset: number },
    isKnown: boolean,
  ): ExpectedVerdict[] {
    const { board, view } = cause;
    const top = this.oracle.leaders(board, view);
    const last = isKnown ? this.reports.get(`${board} ${view}`) : undefined;
    if (top.length === 0 || this.oracle.leadersText(board, view) === last?.text) return [];
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    return [{ kind: 'leaderChange', ...cause, since: last?.version ?? null, top, before }];
  }

  /** Takes in the report that the store has made. */
  report(board: string, { view, version, top }: LeaderChangeVerdict): void {
    const text = this.oracle.leadersText(board, view);
    this.reports.set(`${board} ${view}`, { version, top, text });
  }

  /** The board is gone, and with it what was reported of it. */
  deleteReports(board: string): void {
    for (const view of this.reportedViews(board)) this.reports.delete(`${board} ${view}`);
  }

  /** A generation is swept that had these views: reports of those that the live one does not have go. */
  deleteReportsOf(board: string, views: Iterable<string>): void {
    const { views: known } = this.oracle.memory(board);
    for (const view of views) if (!known.has(view)) this.reports.delete(`${board} ${view}`);
  }

  /** A shard is made as if it was emptied; what is published stays so. */
  reset(shard: number): void {
    for (const [name, partition] of this.partitions)
      if (name.startsWith(`${shard}/`)) Object.assign(partition, { appliedOffset: -1, outbox: [] });
  }

  /** Views of which a report is kept. */
  reportedViews(board: string): string[] {
    const names = [...this.reports.keys()].filter((name) => name.startsWith(`${board} `));
    return names.map((name) => name.slice(board.length + 1)).sort();
  }

  /** Removes views that have expired; answers how many. */
  sweep(board: string): number {
    const gone = this.oracle.sweep(board);
    for (const view of gone) this.reports.delete(`${board} ${view}`);
    return gone.length;
  }

  /** Whether other interleavings of the partitions give the same board. */
  isPromised(board: string, keyed: boolean): boolean {
    const { orderMattered, overflowed } = this.oracle.memory(board);
    return !orderMattered && (keyed || !overflowed);
  }
}
