import { validateSync } from 'class-validator';
import { IsAttributes, IsDelta, IsDeltas, IsEventTime, IsId, MayBeAbsent } from './decorators.js';
import { compileValidator } from './compile-validator.js';
import type { AttributeValue } from './ids.js';

/** What one player gained on one board, at a time: the value of a record of the score topic. Unknown fields are ignored. */
export class ScoreEvent {
  @IsId()
  board: string;

  /** Also the record's key, so that a player's events stay in order. */
  @IsId()
  playerId: string;

  /** For a board of one column: added by `sum`, compared by `best` and `latest`. Either this or `deltas`. */
  @MayBeAbsent()
  @IsDelta()
  delta?: string | number;

  /** A value for each column. A `sum` column that is left out gets 0; the others are needed. */
  @MayBeAbsent()
  @IsDeltas()
  deltas?: Record<string, string | number>;

  /** Event time. Missing: the record's timestamp. */
  @MayBeAbsent()
  @IsEventTime()
  occurredAt?: string;

  @MayBeAbsent()
  @IsId()
  eventId?: string;

  /** What the dimensions of a board are taken from; several values move the view of each. */
  @MayBeAbsent()
  @IsAttributes()
  attributes?: Readonly<Record<string, AttributeValue>>;
}

/** The fields of a score event, in the order in which problems are told. */
export const SCORE_EVENT_FIELDS = [
  'board',
  'playerId',
  'delta',
  'deltas',
  'occurredAt',
  'eventId',
  'attributes',
] as const satisfies readonly (keyof ScoreEvent)[];

/** Whether each field of a value is as the class says. Compiled: for the hot path. */
export const isScoreEvent = compileValidator(ScoreEvent);

/** The first field of a value that is not as the class says, and what it must be. For rejects only: slow. */
export function explainScoreEvent(
  value: Record<string, unknown>,
): { field: (typeof SCORE_EVENT_FIELDS)[number]; message: string } | undefined {
  const event = new ScoreEvent();
  for (const field of SCORE_EVENT_FIELDS)
    if (Object.hasOwn(value, field)) Object.assign(event, { [field]: value[field] });
  const errors = validateSync(event);
  for (const field of SCORE_EVENT_FIELDS) {
    const error = errors.find(({ property }) => property === field);
    if (error !== undefined)
      return { field, message: Object.values(error.constraints ?? {}).join('; ') };
  }
  return undefined;
}
