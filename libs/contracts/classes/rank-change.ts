import { ArrayMinSize, IsString } from 'class-validator';
import {
  AlsoRequired,
  IsCount,
  IsEventTime,
  IsId,
  IsListOfParts,
  IsPart,
  MayBeAbsent,
  MayBeNull,
} from './decorators.js';
import { Cause, MovedPlayer, RankPlacing } from './result-parts.js';

/** The change of a player's place in one view. */
@AlsoRequired('before', 'after')
export class RankMovement {
  /** `window( name=value)*`, values percent-encoded: `all`, `week:2026-W47 region=eu`. */
  @IsString()
  view: string;

  /** View version: it only grows. */
  @IsCount(1)
  version: number;

  /** null for a player who was not in the view. */
  @MayBeNull()
  @IsPart(() => RankPlacing)
  before: RankPlacing | null;

  /** null for a player who left the view. */
  @MayBeNull()
  @IsPart(() => RankPlacing)
  after: RankPlacing | null;

  /** The overtaken players, beginning with the one just behind, up to `overtook` of the board. Absent if there are none. */
  @MayBeAbsent()
  @IsListOfParts(() => MovedPlayer)
  overtook?: readonly MovedPlayer[];
}

/** The effect of one score event on its player, in each view that the board reports. */
export class RankChange {
  @IsId()
  board: string;

  /** Id of the build of the board. */
  @IsId()
  generation: string;

  @IsId()
  playerId: string;

  @IsPart(() => Cause)
  source: Cause;

  /** As in the score event, if that has one. */
  @MayBeAbsent()
  @IsId()
  eventId?: string;

  /** Event time in UTC. The timestamp of the record if the event has none. */
  @IsEventTime()
  occurredAt: string;

  @ArrayMinSize(1)
  @IsListOfParts(() => RankMovement)
  changes: readonly RankMovement[];
}
