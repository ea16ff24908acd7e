import { IsObject } from 'class-validator';
import { AlsoRequired, IsCount, IsId, IsStarts, MayBeAbsent, MayBeNull } from './decorators.js';

/** The value of a record of the definitions topic. */
@AlsoRequired('definition')
export class StoredDefinitionRecord {
  @IsId()
  board: string;

  @IsId()
  generation: string;

  @IsCount(1)
  since: number;

  @MayBeNull()
  @IsObject()
  definition: object | null;

  @MayBeAbsent()
  @IsStarts()
  starts?: Readonly<Record<string, number>>;
}
