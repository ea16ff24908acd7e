import { count, TEXT } from '../checks.js';
import type { Source } from '../record.js';
import type { Leader, MovedPlayer, RankPlacing } from '../result-parts.js';
import { COLUMNS, ID } from '../values.js';
import { Field, IfPresent } from './fields.js';

export class SourceDto implements Source {
  @Field(TEXT)
  topic: string;

  @Field(count(0))
  partition: number;

  @Field(count(0))
  offset: number;
}

export class RankPlacingDto implements RankPlacing {
  @Field(count(1))
  rank: number;

  @Field(COLUMNS)
  columns: Readonly<Record<string, string>>;

  @IfPresent()
  @Field(count(1))
  competitionRank?: number;
}

export class LeaderDto implements Leader {
  @Field(count(1))
  rank: number;

  @Field(COLUMNS)
  columns: Readonly<Record<string, string>>;

  @Field(ID)
  playerId: string;

  @Field(count(1))
  competitionRank: number;
}

export class MovedPlayerDto implements MovedPlayer {
  @Field(ID)
  playerId: string;

  @Field(count(1))
  rankBefore: number;

  @Field(count(1))
  rankAfter: number;
}
