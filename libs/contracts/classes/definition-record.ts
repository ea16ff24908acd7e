import { IsObject } from 'class-validator';
import { AlsoRequired, IsCount, IsId, IsStarts, MayBeAbsent, MayBeNull } from './decorators.js';

/** The value of a record of the definitions topic. */
@AlsoRequired('definition')
export class StoredDefinitionRecord {
  @IsId()
  board: string;

  /** Id of the live generation; of a removed board, of the last one. */
  @IsId()
  generation: string;

  /** When the generation was promoted or the board removed, in µs of Redis' clock. The record with the largest value counts. */
  @IsCount(1)
  since: number;

  /** null if the board was removed. Another version may add fields. */
  @MayBeNull()
  @IsObject()
  definition: object | null;

  /** The offset at which the generation begins, by partition. Absent if it contains the whole log. */
  @MayBeAbsent()
  @IsStarts()
  starts?: Readonly<Record<string, number>>;
}
