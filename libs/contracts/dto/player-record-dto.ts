import type { PlayerRecord } from '../player-record.js';
import { ID, REASON } from '../values.js';
import { Field, OptionalField } from './fields.js';

/** The value of a ban, an unban or an erasure. The header `ce_type` says which of them it is. */
export class PlayerRecordDto implements PlayerRecord {
  @Field(ID)
  board: string;

  @Field(ID)
  playerId: string;

  @OptionalField(REASON)
  reason?: string;

  @OptionalField(REASON)
  by?: string;
}
