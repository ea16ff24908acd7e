import { IsString } from 'class-validator';
import { LEADERS_CHANGED_TYPE } from './cloud-events.js';
import {
  AlsoRequired,
  IsCount,
  IsEventTime,
  IsId,
  IsListOfParts,
  IsPart,
  MayBeNull,
} from './decorators.js';
import { causeId, type RawRecord } from './record.js';
import { Cause, Leader, MovedPlayer, ResultContract } from './result-contract.js';

/** A player who entered the top N. */
export class EnteredLeader {
  @IsId()
  playerId: string;

  @IsCount(1)
  rank: number;
}

/** A player who left the top N. */
export class LeftLeader {
  @IsId()
  playerId: string;

  @IsCount(1)
  rankBefore: number;
}

/** The new top N of a view, and who entered, left or moved since the previous leader change of the view. */
@AlsoRequired('since')
export class LeaderChange {
  @IsId()
  board: string;

  @IsId()
  generation: string;

  @IsString()
  view: string;

  /** View version: it only grows. */
  @IsCount(1)
  version: number;

  /** The version of the previous leader change of the view. null if there was none: then all leaders have entered. */
  @MayBeNull()
  @IsCount(1)
  since: number | null;

  /** The last score event that changed the view before this leader change was made. */
  @IsPart(() => Cause)
  source: Cause;

  /** Event time of the cause. */
  @IsEventTime()
  occurredAt: string;

  @IsListOfParts(() => Leader)
  top: readonly Leader[];

  @IsListOfParts(() => EnteredLeader)
  entered: readonly EnteredLeader[];

  @IsListOfParts(() => LeftLeader)
  left: readonly LeftLeader[];

  @IsListOfParts(() => MovedPlayer)
  moved: readonly MovedPlayer[];
}

export const leaderChangeContract = new ResultContract(LeaderChange, LEADERS_CHANGED_TYPE);

/** The record of a leader change: keyed by board and view, with CloudEvents headers and an id from its cause and view. */
export function encodeLeaderChange(change: LeaderChange) {
  const { board, generation, view, version, since, source, occurredAt } = change;
  const { top, entered, left, moved } = change;
  const head = { board, generation, view, version, since, source, occurredAt };
  return {
    key: `${board} ${view}`,
    value: JSON.stringify({ ...head, top, entered, left, moved }),
    headers: leaderChangeContract.headers(`${causeId(source)} ${view}`, source),
  };
}

/** @throws MalformedRecordError */
export function decodeLeaderChange(record: RawRecord): LeaderChange {
  return leaderChangeContract.decode(record);
}

/** The difference between two tops: `entered` and `moved` by new rank, `left` by old rank. */
export type LeaderMovements = Pick<LeaderChange, 'entered' | 'left' | 'moved'>;

/** Compares a top (player ids in order) with the next one. Cost: linear in both. */
export function leaderMovements(
  before: readonly string[],
  top: readonly { readonly playerId: string; readonly rank: number }[],
): LeaderMovements {
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
