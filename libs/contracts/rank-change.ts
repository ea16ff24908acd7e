import { ArrayMinSize, IsString } from 'class-validator';
import { RANK_CHANGED_TYPE } from './cloud-events.js';
import { causeId } from './dead-letter.js';
import { IsCount, IsEventTime, IsId, MayBeAbsent } from './decorators.js';
import { AlsoRequired, IsListOfParts, IsPart, MayBeNull } from './nested.js';
import type { RawRecord } from './record.js';
import { MalformedResultError, ResultContract } from './result-contract.js';
import { Cause, MovedPlayer, RankPlacing } from './result-parts.js';

/** A player's movement in one view. `before` is null for a player who was not in the view, `after` for a player who left it. */
@AlsoRequired('before', 'after')
export class RankMovement {
  @IsString()
  view: string;

  /** View version: only grows. */
  @IsCount(1)
  version: number;

  @MayBeNull()
  @IsPart(() => RankPlacing)
  before: RankPlacing | null;

  @MayBeNull()
  @IsPart(() => RankPlacing)
  after: RankPlacing | null;

  /** Players who were passed, from the one just behind on; absent where nobody was, or the board does not name them. */
  @MayBeAbsent()
  @IsListOfParts(() => MovedPlayer)
  overtook?: readonly MovedPlayer[];
}

/** What one score event did to its player, in all published views that it changed. */
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

/** A record that is no rank change; `problems` says why. */
export class MalformedRankChangeError extends MalformedResultError {
  constructor(problems: string) {
    super('rank change', problems);
    this.name = 'MalformedRankChangeError';
  }
}

const contract = new ResultContract(RankChange, RANK_CHANGED_TYPE, MalformedRankChangeError);

/** Whether a value is a rank change. Compiled: for subscribers that read many. */
export const isRankChange = contract.matches;

/** The record of a rank change: key player id, CloudEvents headers, id from its cause. */
export function encodeRankChange(change: RankChange) {
  const { board, generation, playerId, source, eventId, occurredAt, changes } = change;
  return {
    key: playerId,
    value: JSON.stringify({ board, generation, playerId, source, eventId, occurredAt, changes }),
    headers: contract.headers(causeId(source), source),
  };
}

/** Reads a record of the rank change topic. @throws MalformedRankChangeError */
export function decodeRankChange(record: RawRecord): RankChange {
  return contract.decode(record);
}

/** What class-validator finds in a value that should be a rank change: nothing, when it is one. */
export function explainRankChange(value: unknown): string[] {
  return contract.explain(value);
}
