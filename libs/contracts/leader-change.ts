import { count, listOf, nullOr, objectOf, TEXT } from './checks.js';
import { LEADERS_CHANGED_TYPE } from './cloud-events.js';
import { causeId, type RawRecord, type Source } from './record.js';
import { ResultContract } from './result-contract.js';
import { LEADER, MOVED_PLAYER, SOURCE, type Leader, type MovedPlayer } from './result-parts.js';
import { ID, TIME } from './values.js';

/** A player who entered the top N. */
export type EnteredLeader = Pick<Leader, 'playerId' | 'rank'>;
/** A player who left the top N. */
export type LeftLeader = Pick<MovedPlayer, 'playerId' | 'rankBefore'>;

/**
 * The new top N of a view, and who entered, left or moved since the previous leader change of the
 * view.
 */
export interface LeaderChange {
  board: string;
  /** Id of the build of the board. */
  generation: string;
  /** As in a rank change. */
  view: string;
  /** View version: it only grows. */
  version: number;
  /**
   * The version of the previous leader change of the view. null if Redis has none: then `entered`
   * is the whole top.
   */
  since: number | null;
  /** The last score event that changed the view before this leader change was made. */
  source: Source;
  /** Event time of the cause, in UTC. */
  occurredAt: string;
  /** The whole top in order; shorter than N if the view has fewer players. */
  top: readonly Leader[];
  entered: readonly EnteredLeader[];
  left: readonly LeftLeader[];
  /** Players who stayed in the top at another rank. */
  moved: readonly MovedPlayer[];
}

const ENTERED = objectOf<EnteredLeader>('EnteredLeader', { playerId: ID, rank: count(1) });
const LEFT = objectOf<LeftLeader>('LeftLeader', { playerId: ID, rankBefore: count(1) });

const contract = new ResultContract<LeaderChange>(
  LEADERS_CHANGED_TYPE,
  objectOf<LeaderChange>('LeaderChange', {
    board: ID,
    generation: ID,
    view: TEXT,
    version: count(1),
    since: nullOr(count(1)),
    source: SOURCE,
    occurredAt: TIME,
    top: listOf(LEADER),
    entered: listOf(ENTERED),
    left: listOf(LEFT),
    moved: listOf(MOVED_PLAYER),
  }),
);

/**
 * The record of a leader change: keyed by board and view, with CloudEvents headers and an id from
 * its cause and view.
 */
export function encodeLeaderChange(change: LeaderChange) {
  const { board, view, source } = change;
  return {
    key: `${board} ${view}`,
    value: contract.encode(change),
    headers: contract.headers(`${causeId(source)} ${view}`, source),
  };
}

/** @throws MalformedRecordError */
export const decodeLeaderChange = (record: RawRecord) => contract.decode(record);

/** The difference between two tops: `entered` and `moved` by new rank, `left` by old rank. */
export type LeaderMovements = Pick<LeaderChange, 'entered' | 'left' | 'moved'>;

/** Compares a top (player ids in order) with the next one. Cost: linear in both. */
export function leaderMovements(
  before: readonly string[],
  top: readonly { readonly playerId: string; readonly rank: number }[],
): LeaderMovements {
  // The players of the old top, with their ranks, that were not found in the new one so far.
  const gone = new Map(before.map((playerId, index) => [playerId, index + 1]));
  const entered: EnteredLeader[] = [];
  const moved: MovedPlayer[] = [];
  for (const { playerId, rank } of top) {
    const rankBefore = gone.get(playerId);
    gone.delete(playerId);
    if (rankBefore === undefined) entered.push({ playerId, rank });
    else if (rankBefore !== rank) moved.push({ playerId, rankBefore, rankAfter: rank });
  }
  const left = Array.from(gone, ([playerId, rankBefore]) => ({ playerId, rankBefore }));
  return { entered, left, moved };
}
