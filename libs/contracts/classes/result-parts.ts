import { IsString } from 'class-validator';
import { IsColumns, IsCount, IsId, MayBeAbsent } from './decorators.js';

/** The score event that caused a result. */
export class Cause {
  @IsString()
  topic: string;

  @IsCount(0)
  partition: number;

  @IsCount(0)
  offset: number;
}

/** The place of a player in a view. Columns are decimal strings. */
class Placing {
  /** From 1; no two players share a rank. */
  @IsCount(1)
  rank: number;

  @IsColumns()
  columns: Readonly<Record<string, string>>;
}

/** A place in a rank change. `competitionRank` is the rank that players with equal columns share, if the board publishes it. */
export class RankPlacing extends Placing {
  @MayBeAbsent()
  @IsCount(1)
  competitionRank?: number;
}

/** A player in the top N of a view. */
export class Leader extends Placing {
  @IsId()
  playerId: string;

  /** The rank that players with equal columns share: 1 2 2 4. */
  @IsCount(1)
  competitionRank: number;
}

/** A player whose rank has changed: one who was overtaken, or one who moved within the top N. */
export class MovedPlayer {
  @IsId()
  playerId: string;

  @IsCount(1)
  rankBefore: number;

  @IsCount(1)
  rankAfter: number;
}
