import type { BoardDefinition, ResolvedEvent } from '#board';

/**
 * Where a generation begins in the log, by partition: events before are not on it. Partitions that are not named begin
 * with the log. Present where a build was told to begin later, or where history was cut.
 */
export type Starts = ReadonlyMap<number, number>;

/** A board's live generation, as Redis has it. */
export interface LiveBoard {
  readonly board: string;
  readonly generation: string;
  readonly definition: BoardDefinition;
  /** Missing for the whole log. */
  readonly starts?: Starts;
}

/** What a board has counted since its generation began. */
export interface BoardFacts {
  /** The event clock in ms; null before the first event, and where no window has `keep`. */
  readonly clock: number | null;
  /** Events some or all of whose views had expired. */
  readonly expired: number;
  /** Events dropped by `deduplicate`. */
  readonly duplicates: number;
}

/** The memory of a Redis server, in bytes; `most` is its maxmemory, 0 for no bound. */
export interface ServerMemory {
  readonly used: number;
  readonly most: number;
}

/** What is known of one record of the log before it is applied: an event of a live board, or why it can't be one. */
export type ApplyEntry = EventEntry | DeadLetterEntry;
export interface EventEntry {
  readonly kind: 'event';
  readonly offset: number;
  readonly board: string;
  readonly event: ResolvedEvent;
}
export interface DeadLetterEntry {
  readonly kind: 'deadLetter';
  readonly offset: number;
  readonly code: string;
  /** A text without control characters: they separate the verdicts of a call. */
  readonly detail: string;
}

/** The last record of a run, by which the log is known again: the hash is of its key and value. */
export interface RecordIdentity {
  readonly offset: number;
  readonly timestamp: number;
  readonly hash: string;
}

/** What a shard says of its continuity: see lua/continuity.lua. */
export interface Continuity {
  /** Replication id of the server that holds it now. */
  readonly server: string;
  /** Names the last comparison with Kafka; empty for none. An apply call has to know it. */
  readonly token: string;
  /** Whether the server is the one that was compared. */
  readonly isContinued: boolean;
}

/** A partition that is below its recovery target in a shard: offsets of what comes next. */
export interface RecoveryTarget {
  readonly shard: number;
  readonly partition: number;
  readonly target: number;
  readonly applied: number;
}

/** One atomic step: a run of consecutive offsets of one partition, the part of it that concerns one shard. */
export interface ApplyCall {
  readonly shard: number;
  readonly partition: number;
  /** The applied offset that the caller believes in; -1 for none. */
  readonly believed: number;
  /** The published position. `through` lies below it, or no entry does: a call never straddles it. */
  readonly published: number;
  /** First offset of the run: at most the stored applied offset + 1. Offsets up to `through` without an entry have nothing to apply. */
  readonly from: number;
  /** Last offset of the run: what the applied offset becomes. */
  readonly through: number;
  readonly entries: readonly ApplyEntry[];
  /** The version of the shard's pointers that the caller believes in: see Boards. */
  readonly version: string;
  /** The boards of the entries, as live in that version; other boards do no harm. */
  readonly boards: ReadonlyMap<string, LiveBoard>;
  /** The token of the shard's continuity that the caller believes in. */
  readonly continuity: string;
  /** Missing when the run has no record. */
  readonly lastRecord?: RecordIdentity;
}

export type ApplyOutcome =
  | {
      readonly status: 'applied';
      readonly appliedOffset: number;
      readonly verdicts: readonly Verdict[];
    }
  | { readonly status: ApplyRefusal };

/**
 * Why a call wrote nothing: the boards of the shard have changed; the applied offset is older than believed; the shard is on another
 * server, or was compared with Kafka since; new events have to wait until all partitions have reached their recovery targets;
 * the run begins beyond the applied offset + 1, so it would skip events.
 */
export type ApplyRefusal =
  'generationChanged' | 'rolledBack' | 'storeChanged' | 'recovering' | 'gap';

/** What became of one record; records without a verdict changed nothing. Complete without a definition. */
export type Verdict = RankChangeVerdict | DeadLetterVerdict | LeaderChangeVerdict;
export interface RankChangeVerdict {
  readonly kind: 'rankChange';
  readonly offset: number;
  readonly generation: string;
  readonly changes: readonly ViewChange[];
}
export interface DeadLetterVerdict {
  readonly kind: 'deadLetter';
  readonly offset: number;
  readonly code: string;
  readonly detail: string;
}

/** The top of a view differs from what was last reported. */
export interface LeaderChangeVerdict {
  readonly kind: 'leaderChange';
  /** The last event of the call that moved the view. */
  readonly offset: number;
  readonly generation: string;
  readonly view: string;
  readonly version: number;
  /** The version of the last report; null when none is known. */
  readonly since: number | null;
  readonly top: readonly Leader[];
  /** Player ids of the last report, in order. */
  readonly before: readonly string[];
}
export interface Leader extends Required<Placing> {
  readonly playerId: string;
}

/** A player's movement in one view. `before` is null for a player who was not in it. */
export interface ViewChange {
  readonly view: string;
  readonly version: number;
  readonly before: Placing | null;
  readonly after: Placing;
  /** Who was passed, from the one just behind on; missing when nobody was, or nobody asked. */
  readonly overtook?: readonly Passed[];
}
export interface Passed {
  readonly playerId: string;
  readonly rankBefore: number;
  readonly rankAfter: number;
}
export interface Placing {
  readonly rank: number;
  /** Missing where the board does not tell it. */
  readonly competitionRank?: number;
  readonly columns: Readonly<Record<string, string>>;
}
