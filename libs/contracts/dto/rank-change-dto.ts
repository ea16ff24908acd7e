import { ArrayNotEmpty } from 'class-validator';
import { count, TEXT } from '../checks.js';
import type { RankChange, RankMovement } from '../rank-change.js';
import { ID, TIME } from '../values.js';
import { Field, IfPresent, ListOf, Nested, OrNull } from './fields.js';
import { MovedPlayerDto, RankPlacingDto, SourceDto } from './result-part-dtos.js';

export class RankMovementDto implements RankMovement {
  @Field(TEXT)
  view: string;

  @Field(count(1))
  version: number;

  @OrNull()
  @Nested(() => RankPlacingDto)
  before: RankPlacingDto | null;

  @OrNull()
  @Nested(() => RankPlacingDto)
  after: RankPlacingDto | null;

  @IfPresent()
  @ListOf(() => MovedPlayerDto)
  overtook?: readonly MovedPlayerDto[];
}

/** The value of a record of the topic of rank changes. */
export class RankChangeDto implements RankChange {
  @Field(ID)
  board: string;

  @Field(ID)
  generation: string;

  @Field(ID)
  playerId: string;

  @Nested(() => SourceDto)
  source: SourceDto;

  @IfPresent()
  @Field(ID)
  eventId?: string;

  @Field(TIME)
  occurredAt: string;

  @ArrayNotEmpty()
  @ListOf(() => RankMovementDto)
  changes: readonly RankMovementDto[];
}
