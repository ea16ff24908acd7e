import type { OraclePassed, OraclePlacing } from './oracle-ranks.js';
import type { OracleState } from './oracle-update.js';

/** What the oracle stores of a board, and what an event or record gives. */

export interface OracleChange {
  readonly view: string;
  readonly before: OraclePlacing | null;
  readonly after: OraclePlacing | null;
  readonly overtook?: readonly OraclePassed[];
}
export type OracleDeadLetterCode = 'SUM_OUT_OF_RANGE' | 'TOO_MANY_VIEWS' | 'WINDOW_EXPIRED';
export type OracleVerdict =
  | { readonly kind: 'rankChange'; readonly changes: readonly OracleChange[] }
  | { readonly kind: 'deadLetter'; readonly code: OracleDeadLetterCode };
/**
 * The outcome of an event: its published result, if any, and the views in which its player's state
 * changed.
 */
export interface OracleOutcome {
  readonly verdict?: OracleVerdict;
  readonly moved: readonly string[];
}

/** A ban, unban or erasure, and its place in the log. */
export interface OracleRecord {
  readonly kind: 'banned' | 'unbanned' | 'erased';
  readonly playerId: string;
  readonly time: number;
  readonly partition: number;
  readonly offset: number;
}

/** A view that was made and not swept; it may have expired. */
export interface OracleView {
  readonly expiresAt: number | null;
  readonly published: boolean;
  readonly players: Map<string, OracleState>;
  /** The players who are in the ranking. */
  readonly placed: Set<string>;
}

/**
 * What `deduplicate` knows of one partition: its clock, and times by event id, newline, player id.
 */
export interface OraclePartition {
  clock: number;
  readonly remembered: Map<string, number>;
}

/** All that the oracle stores of a board; plain data, so that it can be copied. */
export interface BoardMemory {
  clock: number;
  expired: number;
  duplicates: number;
  /** Events refused with TOO_MANY_VIEWS. */
  refused: number;
  /**
   * Whether a sum would have left the range, which depends on the order of a player's own events.
   */
  overflowed: boolean;
  /**
   * Whether the content may depend on how the partitions interleaved, because of a refused event.
   */
  orderMattered: boolean;
  readonly partitions: Map<number, OraclePartition>;
  readonly views: Map<string, OracleView>;
  /** The record of each player that counts. */
  readonly register: Map<string, OracleRecord>;
  /** Records that are marked and not settled, by `partition offset`. */
  readonly unsettled: Map<string, OracleRecord>;
}

export function emptyMemory(): BoardMemory {
  return {
    clock: -Infinity,
    expired: 0,
    duplicates: 0,
    refused: 0,
    overflowed: false,
    orderMattered: false,
    partitions: new Map(),
    views: new Map(),
    register: new Map(),
    unsettled: new Map(),
  };
}

export function hasExpired({ clock }: BoardMemory, expiresAt: number | null): boolean {
  return expiresAt !== null && clock >= expiresAt;
}
