import type { AttributeValue } from '../values.js';
import { IsAttributes, IsDelta, IsDeltas, IsEventTime, IsId, MayBeAbsent } from './decorators.js';

/** The value of a record of the score topic: what one player gained on one board. Unknown fields are ignored. */
export class ScoreEvent {
  @IsId()
  board: string;

  /** Also the key of the record, so that the events of a player stay in order. */
  @IsId()
  playerId: string;

  /** The value for a board with one input: a `sum` adds it, `best` and `latest` may keep it. An event has this or `deltas`. */
  @MayBeAbsent()
  @IsDelta()
  delta?: string | number;

  /** A value for each input. Inputs of `sum` columns can be left out. */
  @MayBeAbsent()
  @IsDeltas()
  deltas?: Record<string, string | number>;

  /** Event time. Default: the timestamp of the record. */
  @MayBeAbsent()
  @IsEventTime()
  occurredAt?: string;

  /** A board that drops duplicates knows them by this. */
  @MayBeAbsent()
  @IsId()
  eventId?: string;

  /** The dimensions of a board use these. If an attribute has several values, the event changes the views of each. */
  @MayBeAbsent()
  @IsAttributes()
  attributes?: Readonly<Record<string, AttributeValue>>;
}
