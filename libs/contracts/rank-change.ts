import { ArrayMinSize, IsString } from 'class-validator';
import { RANK_CHANGED_TYPE } from './cloud-events.js';
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
import { causeId, type RawRecord } from './record.js';
import { Cause, MovedPlayer, RankPlacing, ResultContract } from './result-contract.js';

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

  /** The overtaken players, beginning with the one just behind. Absent if there are none or the board does not publish them. */
  @MayBeAbsent()
  @IsListOfParts(() => MovedPlayer)
  overtook?: readonly MovedPlayer[];
}

/** The effect of one score event on its player, in all published views that it changed. */
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

export const rankChangeContract = new ResultContract(RankChange, RANK_CHANGED_TYPE);

/** The record of a rank change: keyed by player id, with CloudEvents headers and an id from its cause. */
export function encodeRankChange(change: RankChange) {
  const { board, generation, playerId, source, eventId, occurredAt, changes } = change;
  return {
    key: playerId,
    value: JSON.stringify({ board, generation, playerId, source, eventId, occurredAt, changes }),
    headers: rankChangeContract.headers(causeId(source), source),
  };
}

/** @throws MalformedRecordError */
export function decodeRankChange(record: RawRecord): RankChange {
  return rankChangeContract.decode(record);
}
