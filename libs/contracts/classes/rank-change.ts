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

/** The change of a player's place in one view. `before` is null for a new player, `after` for a player who left the view. */
@AlsoRequired('before', 'after')
export class RankMovement {
  @IsString()
  view: string;

  /** View version: it only grows. */
  @IsCount(1)
  version: number;

  @MayBeNull()
  @IsPart(() => RankPlacing)
  before: RankPlacing | null;

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

  @IsId()
  generation: string;

  @IsId()
  playerId: string;

  @IsPart(() => Cause)
  source: Cause;

  @MayBeAbsent()
  @IsId()
  eventId?: string;

  @IsEventTime()
  occurredAt: string;

  @ArrayMinSize(1)
  @IsListOfParts(() => RankMovement)
  changes: readonly RankMovement[];
}
