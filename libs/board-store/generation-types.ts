import type { BoardDefinition } from '#board';
import type { EventEntry, LiveBoard, Starts } from './types.js';

/** The boards of all shards. */
export interface Boards {
  readonly live: ReadonlyMap<string, LiveBoard>;
  /** Those that are there but have no live generation yet: their first one is being built. */
  readonly building: ReadonlySet<string>;
  /** Those that a command has removed: that they are missing is no loss. */
  readonly removed: ReadonlySet<string>;
  /** The version of each shard's pointers (pointers.lua), read before the boards, so the boards are never older than it. */
  readonly versions: readonly string[];
}

/** What a shadow is made for; `rollback` is the previous generation on its way back. */
export type ShadowPurpose = 'build' | 'verify' | 'snapshot' | 'rollback';

/** A generation that is being brought nearer to the live applied offsets; only the holder of the board's lease may write to it. */
export interface Shadow extends LiveBoard {
  readonly purpose: ShadowPurpose;
  /** `snapshot` only: the offset behind the last one that it takes in, by partition. */
  readonly ends?: Starts;
}

/** The right to write to the shadow of a board, until somebody else has it. `token` fences: every script checks it. */
export interface Lease {
  readonly board: string;
  readonly token: string;
}

/** What the log has for a shadow in one partition, from `from` to `through`: all its events, and those alone. */
export interface Stretch {
  readonly partition: number;
  /** At most the shadow's applied offset + 1, or the call is refused. */
  readonly from: number;
  readonly through: number;
  readonly entries: readonly EventEntry[];
}

/** Offsets of the last events in a generation and on the live board, -1 for none. */
export interface AppliedOffset {
  readonly shadow: number;
  readonly live: number;
}

/** Why nothing was written. */
export type ShadowRefusal =
  | 'leaseLost' // it is another's, or has run out
  | 'shadowGone' // it was discarded, or Redis has lost it
  | 'gap' // the stretch begins beyond the shadow's applied offset + 1
  | 'generationChanged' // another generation is live than was believed
  | 'serverChanged'; // the comparison began on another server: see ComparisonCursor

/** What a catch-up call did. `appliedOffsets` are those of its stretches; with an ending, of every partition that is live. */
export type CatchUpOutcome<Ending> =
  | {
      readonly status: 'applied';
      readonly appliedOffsets: ReadonlyMap<number, AppliedOffset>;
      /** Missing while the shadow is not at the live applied offsets: then nothing but the stretches was done. */
      readonly ending?: Ending;
    }
  | { readonly status: ShadowRefusal };

/** What a comparison goes over, from `cursor` on; '0' begins. */
export interface ComparisonWalk {
  readonly over:
    | 'views' // views that should be there
    | 'extraViews' // views that should not
    | 'eventIds' // what deduplicate remembers of a partition
    | 'players' // players who should be in a view
    | 'extraPlayers' // players who should not
    | 'ranking'; // the order of a view
  /** The view or the partition. */
  readonly name: string;
  readonly cursor: string;
}

/** Where a comparison goes on. It is one of a server, as its cursors are: on another one it has to begin again. */
export interface ComparisonCursor {
  readonly server: string;
  readonly walk: ComparisonWalk;
  /** What comes after that. */
  readonly rest: readonly ComparisonWalk[];
}

/** A player, or a view as a whole, that is not what the log makes of it. States are texts of libs/board/state.ts. */
export interface Difference {
  readonly view: string;
  readonly kind:
    | 'missing' // a player who should be there
    | 'extra' // a player who should not
    | 'columns' // other columns
    | 'reachTime' // the same columns at another time
    | 'order' // the state is right, the place in the ranking is not: absent, twice, or elsewhere
    | 'view' // a view that should (not) be there, or expires at another time
    | 'clock' // the event clock of the board
    | 'eventIds' // what deduplicate remembers of a partition
    | 'appliedOffset'; // a live applied offset beyond the end of the log: nothing can be compared
  readonly playerId?: string;
  /** Of event ids. */
  readonly partition?: number;
  readonly expected?: string;
  readonly found?: string;
}

/**
 * Events that were refused for `maxViews`, by the log as it was read now, and on the live board. Which ones these are depends
 * on how the partitions interleaved, so that boards that have refused some need not be the same.
 */
export interface TooManyViews {
  readonly expected: number;
  readonly found: number;
}

/** What one call has compared. */
export interface ComparisonStep {
  /** Missing at the end of the comparison. */
  readonly next?: ComparisonCursor;
  /** Players and event ids that were looked at. */
  readonly compared: number;
  /** Places of players in views that the log makes. */
  readonly places: number;
  readonly views: number;
  readonly differences: readonly Difference[];
  /** Where events were refused, differences tell nothing. */
  readonly tooManyViews: TooManyViews;
}

/** One generation of a board, as Redis knows it. Times in ms. */
export interface GenerationOverview {
  readonly board: string;
  readonly generation: string;
  readonly definition: BoardDefinition;
  readonly role: 'live' | 'previous' | 'shadow' | 'snapshot';
  readonly starts?: Starts;
  /** When its build was begun; missing for one that was live from the start of the log on. */
  readonly begunAt?: number;
  /** `live`: when it went live. */
  readonly since?: number;
  /** `previous`: until when it can be brought back. */
  readonly keptUntil?: number;
  /** `snapshot`: the moment of the log that it shows. */
  readonly asOf?: number;
}

/** What is told of a running or the last reconciliation of a board; kept in Redis, so that any process can tell it. */
export interface ReconciliationStatus {
  readonly board: string;
  readonly kind: 'build' | 'verify' | 'rollback' | 'snapshot';
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly generation: string;
  /** Who does it: host and process id. */
  readonly holder: string;
  /** Records of the log, of those that are to be read. */
  readonly done: number;
  readonly total: number;
  /** Records per second, over the last seconds. */
  readonly rate: number;
  /** Until all of it is done, as far as is known; null: not known, or there is nothing left to wait for. */
  readonly secondsLeft: number | null;
  /** Times in ms of the holder's clock. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Of a finished one: a sentence; of a failed one: why. */
  readonly outcome?: string;
}
