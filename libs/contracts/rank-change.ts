import 'reflect-metadata';
import { plainToInstance, Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsInt,
  IsObject,
  IsString,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';
import { cloudEventHeaders, RANK_CHANGED_TYPE } from './cloud-events.js';
import { compileValidator } from './compile-validator.js';
import { causeId } from './dead-letter.js';
import { IsColumns, IsEventTime, IsId, MayBeAbsent } from './decorators.js';
import { headerText, type RawRecord } from './record.js';

const IsCount =
  (least: number): PropertyDecorator =>
  (target, property) => {
    Min(least)(target, property);
    Max(Number.MAX_SAFE_INTEGER)(target, property);
    // Last: in the compiled schema each of the three sets the type, and only this one sets integer.
    IsInt()(target, property);
  };

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

/** A player's movement in one view. `before` is null for a player who was not in it. */
@JSONSchema((schema) => ({ ...schema, required: [...(schema.required ?? []), 'before'] }))
export class RankMovement {
  @IsString()
  view: string;

  /** View version: only grows. */
  @IsCount(1)
  version: number;

  @ValidateIf((_, value) => value !== null)
  @IsObject()
  @ValidateNested()
  @Type(() => RankPlacing)
  @JSONSchema((schema) => ({ anyOf: [{ type: 'null' }, schema] }))
  before: RankPlacing | null;

  @IsObject()
  @ValidateNested()
  @Type(() => RankPlacing)
  after: RankPlacing;
}

/** What one score event did to its player, in all published views that it changed. */
export class RankChange {
  @IsId()
  board: string;

  @IsId()
  generation: string;

  @IsId()
  playerId: string;

  @IsObject()
  @ValidateNested()
  @Type(() => Cause)
  source: Cause;

  @MayBeAbsent()
  @IsId()
  eventId?: string;

  @IsEventTime()
  occurredAt: string;

  @IsArray()
  @ArrayMinSize(1)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => RankMovement)
  changes: readonly RankMovement[];
}

/** Whether a value is a rank change. Compiled: for subscribers that read many. */
export const isRankChange = compileValidator(RankChange);

/** A record that is no rank change; `problems` says why. */
export class MalformedRankChangeError extends Error {
  constructor(readonly problems: string) {
    super(`not a rank change: ${problems}`);
    this.name = 'MalformedRankChangeError';
  }
}

/** The record of a rank change: key player id, CloudEvents headers, id from its cause. */
export function encodeRankChange(change: RankChange) {
  const { board, generation, playerId, source, eventId, occurredAt, changes } = change;
  return {
    key: playerId,
    value: JSON.stringify({ board, generation, playerId, source, eventId, occurredAt, changes }),
    headers: cloudEventHeaders({
      id: causeId(source),
      type: RANK_CHANGED_TYPE,
      source: `/ranklog/${source.topic}`,
    }),
  };
}

/** Reads a record of the rank change topic. @throws MalformedRankChangeError */
export function decodeRankChange({ value, headers }: RawRecord): RankChange {
  const type = headerText(headers, 'ce_type');
  if (type !== undefined && type !== RANK_CHANGED_TYPE)
    throw new MalformedRankChangeError(`ce_type is ${type}, not ${RANK_CHANGED_TYPE}`);
  let change: unknown;
  try {
    change = JSON.parse(value?.toString('utf8') ?? '');
  } catch {
    throw new MalformedRankChangeError('the value is not JSON');
  }
  if (!isRankChange(change))
    throw new MalformedRankChangeError(explainRankChange(change).join('; '));
  return change;
}

/** What class-validator finds in a value that should be a rank change: nothing, when it is one. */
export function explainRankChange(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return ['it is not an object'];
  return validateSync(plainToInstance(RankChange, value)).map((error) => error.toString());
}
