import { count, TEXT } from '../checks.js';
import type { EnteredLeader, LeaderChange, LeftLeader } from '../leader-change.js';
import { ID, TIME } from '../values.js';
import { Field, ListOf, Nested, OrNull } from './fields.js';
import { LeaderDto, MovedPlayerDto, SourceDto } from './result-part-dtos.js';

export class EnteredLeaderDto implements EnteredLeader {
  @Field(ID)
  playerId: string;

  @Field(count(1))
  rank: number;
}

export class LeftLeaderDto implements LeftLeader {
  @Field(ID)
  playerId: string;

  @Field(count(1))
  rankBefore: number;
}

/** The value of a record of the topic of leader changes. */
export class LeaderChangeDto implements LeaderChange {
  @Field(ID)
  board: string;

  @Field(ID)
  generation: string;

  @Field(TEXT)
  view: string;

  @Field(count(1))
  version: number;

  @OrNull()
  @Field(count(1))
  since: number | null;

  @Nested(() => SourceDto)
  source: SourceDto;

  @Field(TIME)
  occurredAt: string;

  @ListOf(() => LeaderDto)
  top: readonly LeaderDto[];

  @ListOf(() => EnteredLeaderDto)
  entered: readonly EnteredLeaderDto[];

  @ListOf(() => LeftLeaderDto)
  left: readonly LeftLeaderDto[];

  @ListOf(() => MovedPlayerDto)
  moved: readonly MovedPlayerDto[];
}
