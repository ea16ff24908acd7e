import { IsString } from 'class-validator';
import { IsColumns, IsCount, IsId } from './decorators.js';

/** A record of the score topic, as the cause of a result. */
export class Cause {
  @IsString()
  topic: string;

  @IsCount(0)
  partition: number;

  @IsCount(0)
  offset: number;
}

/** Where a player stands in a view: position, rank over equal columns, and the columns as decimal strings. */
export class RankPlacing {
  @IsCount(1)
  rank: number;

  @IsCount(1)
  competitionRank: number;

  @IsColumns()
  columns: Readonly<Record<string, string>>;
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
