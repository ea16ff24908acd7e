// To add a field of the status of a build or verify: add it to `ReconciliationStatus`, and fill it
// in src/reconciliation/runs/run-leases.ts. reconciliation-json.ts beside that file converts times
// for HTTP. Describe it in docs/reference/http.md.

import type { BoardEntry, LiveBoard, PlayerEntry, Starts } from './types.js';

export interface Boards {
  readonly live: ReadonlyMap<string, LiveBoard>;
  /** Boards without a live generation: their first one is being built. */
  readonly building: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  /**
   * The version of each shard's pointers (lua/includes/shard.lua), read before the boards: no board
   * is older than its version.
   */
  readonly versions: readonly string[];
}

/** `rollback`: the shadow was the previous generation. */
export type ShadowPurpose = 'build' | 'verify' | 'snapshot' | 'rollback';

/**
 * A generation that catches up with the live applied offsets. Only the holder of the lease of the
 * board may write to it.
 */
export interface Shadow extends LiveBoard {
  readonly purpose: ShadowPurpose;
  /** Snapshots only: per partition, the offset after the last one that the snapshot applies. */
  readonly ends?: Starts;
}

/**
 * The right to write to the shadow of a board, until it expires. Every script that its holder calls
 * checks the token.
 */
export interface Lease {
  readonly board: string;
  readonly token: string;
}

/** The events and player records of a shadow's board in one partition, `from` to `through`. */
export interface Stretch {
  readonly partition: number;
  /** At most the shadow's applied offset + 1, or the call is refused. */
  readonly from: number;
  readonly through: number;
  readonly entries: readonly BoardEntry[];
}

/** Player records of one partition. With `isLast`, all their views are settled after the call. */
export interface JoinedRecords {
  readonly partition: number;
  readonly entries: readonly PlayerEntry[];
  readonly isLast?: boolean;
}

export interface PromoteOptions {
  readonly graceMs: number;
  /** See lua/commands/promote-13.lua. */
  readonly takenOver?: Readonly<Record<string, number>>;
}

/**
 * A player record that is marked and not settled. `entry` is the player's current entry in the ban
 * register, which may be of a later record.
 */
export interface UnsettledRecord extends Pick<PlayerEntry, 'playerId' | 'offset' | 'entry'> {
  readonly partition: number;
}

/** The applied offsets of a partition in the shadow and in the live generation, -1 for none. */
export interface AppliedOffset {
  readonly shadow: number;
  readonly live: number;
}

/** Why a call wrote nothing: see lua/includes/return-codes.lua. */
export type ShadowRefusal =
  'leaseLost' | 'shadowGone' | 'gap' | 'generationChanged' | 'serverChanged';

/**
 * A catch-up call that was not refused. `appliedOffsets` has the partitions of the call; for
 * promote and compare, it has all partitions.
 */
interface Applied {
  readonly status: 'applied';
  readonly appliedOffsets: ReadonlyMap<number, AppliedOffset>;
}

/**
 * The outcome of a catch-up call. Until the shadow is at the live applied offsets, a call only
 * applies its stretches, and its outcome has no ending.
 */
export type CatchUpOutcome<Ending> =
  | (Applied & { readonly ending: Ending })
  | (Applied & { readonly ending?: undefined })
  | { readonly status: ShadowRefusal; readonly ending?: undefined };

/**
 * Where a ranking continues. Valid on `server` only: on another server, the ranking begins again.
 */
export interface RankingCursor {
  readonly server: string;
  /** Views that were found and are not ranked yet. */
  readonly views: readonly string[];
  /** The cursor in the first of these views; '0' begins the view. */
  readonly playersCursor: string;
  /** The cursor that finds more views; '0' begins, '' means that all are found. */
  readonly viewsCursor: string;
}

export interface RankingStep {
  /** How many players the step has read; 0 if the step found views, or was the last one. */
  readonly players: number;
  readonly next?: RankingCursor;
}

/**
 * A walk compares all items of one kind, some in each step. `cursor` is where the next step begins;
 * '0' begins the walk.
 */
export interface ComparisonWalk {
  readonly over:
    | 'views' // views that should be there
    | 'extraViews' // views that should not be there
    | 'eventIds' // the event ids of a partition
    | 'bans' // entries that should be in the ban register
    | 'extraBans' // entries that should not be there
    | 'players' // players who should be in a view
    | 'extraPlayers' // players who should not be there
    | 'ranking'; // entries of the live ranking that fit no live state
  /** The view or partition to walk over; '' for walks over the whole board. */
  readonly name: string;
  readonly cursor: string;
}

/** Where a comparison continues. Valid on `server` only: on another server, it begins again. */
export interface ComparisonCursor {
  readonly server: string;
  readonly walk: ComparisonWalk;
  /** The walks after this one. */
  readonly rest: readonly ComparisonWalk[];
}

/** A difference between a live board and the log. States of players are in hexadecimal. */
export interface Difference {
  readonly view: string;
  readonly kind:
    | 'missing' // a player who should be there
    | 'extra' // a player who should not be there
    | 'columns' // other columns
    | 'reachTime' // the same columns at another time
    | 'order' // the ranking lacks the entry of a live state, or has an entry that fits none
    | 'view' // a view that should (not) be there, or expires at another time
    | 'clock' // the event clock of the board
    | 'eventIds' // the event ids of a partition
    | 'ban' // the entry of a player in the ban register
    | 'appliedOffset'; // a live applied offset beyond the end of the log prevents the comparison
  readonly playerId?: string;
  readonly partition?: number;
  readonly expected?: string;
  readonly found?: string;
}

/**
 * The number of events that the shadow (`expected`) and the live board (`found`) refused for
 * `maxViews`. The order of partitions decides which events are refused, so the numbers may differ.
 */
export interface TooManyViews {
  readonly expected: number;
  readonly found: number;
}

export interface ComparisonStep {
  readonly next?: ComparisonCursor;
  readonly compared: number;
  /** How many places of the shadow the step compared; 0 if it compared something else. */
  readonly places: number;
  readonly views: number;
  readonly differences: readonly Difference[];
  /** If any events were refused, the differences are meaningless. */
  readonly tooManyViews: TooManyViews;
}

/** A generation of a board in Redis. Times in ms. */
export interface GenerationOverview extends LiveBoard {
  readonly role: 'live' | 'previous' | 'shadow' | 'snapshot';
  /** When its build began; missing if it went live without a build (register-7.lua). */
  readonly begunAt?: number | undefined;
  /** `live`: when it went live. */
  readonly since?: number | undefined;
  /** `previous`: until when a rollback is possible. */
  readonly keptUntil?: number | undefined;
  /** `snapshot`: the moment of the log that it shows. */
  readonly asOf?: number | undefined;
}

/**
 * The status of the running or last reconciliation of a board, stored in Redis for all processes.
 */
export interface ReconciliationStatus {
  readonly board: string;
  readonly kind: 'build' | 'verify' | 'rollback' | 'snapshot';
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly generation: string;
  /** Host and process id. */
  readonly holder: string;
  /**
   * `done`: records of the log that the shadow has applied; `total`: all that it has to apply,
   * including those done.
   */
  readonly done: number;
  readonly total: number;
  /** Records per second, over the last seconds. */
  readonly rate: number;
  /** Estimated time until the end; null if unknown or at the end. */
  readonly secondsLeft: number | null;
  /** Times in ms of the holder's clock. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** A sentence on the result, or the reason of a failure. */
  readonly outcome?: string;
  /** For a finished verify: whether the board equals the log; null if it could not compare them. */
  readonly equal?: boolean | null;
}
