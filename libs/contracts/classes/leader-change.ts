import { IsString } from 'class-validator';
import {
  AlsoRequired,
  IsCount,
  IsEventTime,
  IsId,
  IsListOfParts,
  IsPart,
  MayBeNull,
} from './decorators.js';
import { Cause, Leader, MovedPlayer } from './result-parts.js';

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

  /** Id of the build of the board. */
  @IsId()
  generation: string;

  /** As in a rank change. */
  @IsString()
  view: string;

  /** View version: it only grows. */
  @IsCount(1)
  version: number;

  /** The version of the previous leader change of the view. null if Redis has none: then `entered` is the whole top. */
  @MayBeNull()
  @IsCount(1)
  since: number | null;

  /** The last score event that changed the view before this leader change was made. */
  @IsPart(() => Cause)
  source: Cause;

  /** Event time of the cause, in UTC. */
  @IsEventTime()
  occurredAt: string;

  /** The whole top in order; shorter than N if the view has fewer players. */
  @IsListOfParts(() => Leader)
  top: readonly Leader[];

  @IsListOfParts(() => EnteredLeader)
  entered: readonly EnteredLeader[];

  @IsListOfParts(() => LeftLeader)
  left: readonly LeftLeader[];

  /** Players who stayed in the top at another rank. */
  @IsListOfParts(() => MovedPlayer)
  moved: readonly MovedPlayer[];
}
