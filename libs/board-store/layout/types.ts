import type { BoardDefinition, ResolvedEvent, ResolvedView } from '#board';
import type { LeaderChange } from '#contracts';

/** The settings of one ranklog. Two ranklogs on the same topics publish each result twice. */
export interface Identity {
  readonly cluster: string;
  readonly topicPrefix: string;
  readonly group: string;
  readonly redisPrefix: string;
  readonly shards: number;
}

/**
 * By partition, the first offset of a generation that begins later than the log. The ends of a
 * snapshot have this type, too: by partition, the offset after its last one.
 */
export type Starts = ReadonlyMap<number, number>;

/** A generation of a board: the live one, unless stated otherwise. */
export interface LiveBoard {
  readonly board: string;
  readonly generation: string;
  readonly definition: BoardDefinition;
  /** Missing if the generation begins where the log begins. */
  readonly starts?: Starts;
}

/** The memory of a Redis server, in bytes; `most` is its maxmemory, 0 for no bound. */
export interface ServerMemory {
  readonly used: number;
  readonly most: number;
}

/** A record of the log to apply: an event or player record of a live board, or a dead letter. */
export type ApplyEntry = BoardEntry | DeadLetterEntry;
/** A record that changes a board. */
export type BoardEntry = EventEntry | PlayerEntry;
export interface EventEntry {
  readonly kind: 'event';
  readonly offset: number;
  readonly board: string;
  readonly event: ResolvedEvent;
}
export interface PlayerEntry {
  readonly kind: 'player';
  readonly offset: number;
  readonly board: string;
  readonly playerId: string;
  /** The record as the ban register has it: see banText. */
  readonly entry: string;
  /** Views to settle in this call: see lua/includes/settle.lua. */
  readonly views?: readonly ResolvedView[];
}
export interface DeadLetterEntry {
  readonly kind: 'deadLetter';
  readonly offset: number;
  readonly code: string;
  readonly detail: string;
}

/**
 * The last record of a run. A record identifies the log: in another log, this offset has another
 * record or none. The hash covers key and value.
 */
export interface RecordIdentity {
  readonly offset: number;
  readonly timestamp: number;
  readonly hash: string;
}

/** The continuity of a shard: see lua/includes/continuity.lua. */
export interface Continuity {
  /** Replication id of the present server. */
  readonly server: string;
  /** Names the last resync, or the one under way; empty for none. Every apply call carries it. */
  readonly token: string;
  /** Whether the shard was last resynced on this server. */
  readonly isContinued: boolean;
}

/**
 * A partition below its recovery target in a shard. `applied` is the applied offset + 1: the next
 * offset to apply.
 */
export interface RecoveryTarget {
  readonly shard: number;
  readonly partition: number;
  readonly target: number;
  readonly applied: number;
}

/**
 * One atomic step: a run of consecutive offsets of one partition. It has the entries of one shard.
 */
export interface ApplyCall {
  readonly shard: number;
  readonly partition: number;
  /** The applied offset that the caller believes in; -1 for none. */
  readonly believed: number;
  /** The published position. A call never straddles it: all its entries are on one side. */
  readonly published: number;
  /**
   * First offset of the run: at most the stored applied offset + 1. At offsets without an entry,
   * there is nothing to apply.
   */
  readonly from: number;
  /** Last offset of the run: the new applied offset, unless player records remain unsettled. */
  readonly through: number;
  readonly entries: readonly ApplyEntry[];
  /** Whether all views of its player records are settled after this call. */
  readonly isLast?: boolean;
  /** The version of the shard's pointers that the caller believes in: see Boards. */
  readonly version: string;
  /** The boards of the entries, as they are live in `version`; the map may contain other boards. */
  readonly boards: ReadonlyMap<string, LiveBoard>;
  /** The token of the shard's continuity that the caller believes in. */
  readonly continuity: string;
  readonly lastRecord?: RecordIdentity;
}

export type ApplyOutcome =
  | {
      readonly status: 'applied';
      readonly appliedOffset: number;
      readonly verdicts: readonly Verdict[];
    }
  | { readonly status: ApplyRefusal };

/** Why a call wrote nothing: see lua/includes/return-codes.lua. */
export type ApplyRefusal =
  'generationChanged' | 'rolledBack' | 'storeChanged' | 'recovering' | 'gap';

/**
 * A result or a dead letter, readable without a definition. A record that changes no published
 * ranking has no verdict.
 */
export type Verdict = RankChangeVerdict | DeadLetterEntry | LeaderChangeVerdict;
export interface RankChangeVerdict {
  readonly kind: 'rankChange';
  readonly offset: number;
  readonly generation: string;
  /** The movements in all views: RankMovements in JSON, as published, with commas in between. */
  changes: string;
}

/** The top of a view differs from the last reported top. */
export interface LeaderChangeVerdict extends Readonly<
  Pick<LeaderChange, 'generation' | 'view' | 'version' | 'since' | 'top'>
> {
  readonly kind: 'leaderChange';
  /** The offset of the last event in the call that changed the view. */
  readonly offset: number;
  /** Player ids of the last reported top, in order. */
  readonly before: readonly string[];
}
