import { IsString } from 'class-validator';
import { IsColumns, IsCount, IsId, MayBeAbsent } from './decorators.js';

/** A record of the score topic, as the cause of a result. */
export class Cause {
  @IsString()
  topic: string;

  @IsCount(0)
  partition: number;

  @IsCount(0)
  offset: number;
}

/** Where a player stands in a view: position, and the columns as decimal strings. */
class Placing {
  @IsCount(1)
  rank: number;

  @IsColumns()
  columns: Readonly<Record<string, string>>;
}

/** A place in a rank change; the rank over equal columns only if the board publishes it. */
export class RankPlacing extends Placing {
  @MayBeAbsent()
  @IsCount(1)
  competitionRank?: number;
}

/** A player in the top N of a view. */
export class Leader extends Placing {
  @IsId()
  playerId: string;

  @IsCount(1)
  competitionRank: number;
}

/** A player who has another position than before. */
export class MovedPlayer {
  @IsId()
  playerId: string;

  @IsCount(1)
  rankBefore: number;

  @IsCount(1)
  rankAfter: number;
}
