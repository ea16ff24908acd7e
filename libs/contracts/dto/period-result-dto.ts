import { count, TEXT } from '../checks.js';
import type { PeriodResult } from '../period-result.js';
import { ID, TIME } from '../values.js';
import { Field, ListOf } from './fields.js';
import { LeaderDto } from './result-part-dtos.js';

/** The value of a record of the topic of period results. */
export class PeriodResultDto implements PeriodResult {
  @Field(ID)
  board: string;

  @Field(ID)
  generation: string;

  @Field(TEXT)
  view: string;

  @Field(TEXT)
  window: string;

  @Field(TIME)
  start: string;

  @Field(TIME)
  end: string;

  @Field(count(1))
  revision: number;

  @Field(count(0))
  size: number;

  @ListOf(() => LeaderDto)
  results: readonly LeaderDto[];
}
