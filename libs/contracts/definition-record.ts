import { isDeepStrictEqual } from 'node:util';
import { IsObject } from 'class-validator';
import {
  boardFields,
  BoardsFileError,
  definitionText,
  parseBoardsFile,
  parseDefinitionText,
  type BoardDefinition,
} from '#board';
import { DEFINITION_RECORD_TYPE } from './cloud-events.js';
import { IsCount, IsId, IsStarts, MayBeAbsent } from './decorators.js';
import { AlsoRequired, MayBeNull } from './nested.js';
import type { RawRecord } from './record.js';
import { MalformedResultError, ResultContract } from './result-contract.js';

/** What is in force for a board: the definition of its live generation, or that it was removed. */
export interface DefinitionRecord {
  readonly board: string;
  /** The one that went live; of a removed board, the one that was live last. */
  readonly generation: string;
  /** When Redis moved the pointer, in us of its clock: of two records of a board, the larger one holds. */
  readonly since: number;
  /** null for a board that was removed. */
  readonly definition: BoardDefinition | null;
  /** Offsets at which the generation begins, by partition; missing for the whole log. */
  readonly starts?: ReadonlyMap<number, number>;
}

/** A live definition as a record holds it. */
@AlsoRequired('definition')
class StoredDefinitionRecord {
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

/** A record that is no live definition; `problems` says why. */
export class MalformedDefinitionRecordError extends MalformedResultError {
  constructor(problems: string) {
    super('live definition', problems);
    this.name = 'MalformedDefinitionRecordError';
  }
}

const contract = new ResultContract(
  StoredDefinitionRecord,
  DEFINITION_RECORD_TYPE,
  MalformedDefinitionRecordError,
);

/** The record of a live definition: key board, CloudEvents headers, id from board and promotion. */
export function encodeDefinitionRecord(current: DefinitionRecord, topic: string) {
  const { board, generation, since, definition, starts } = current;
  const stored = {
    board,
    generation,
    since,
    definition: definition && (JSON.parse(definitionText(definition)) as object),
    starts: starts && Object.fromEntries(starts),
  };
  return {
    key: board,
    value: JSON.stringify(stored),
    headers: contract.headers(`${board}/${since}`, { topic }),
  };
}

/** Reads a record of the definitions topic. @throws MalformedDefinitionRecordError */
export function decodeDefinitionRecord(record: RawRecord): DefinitionRecord {
  const { board, generation, since, definition, starts } = contract.decode(record);
  const key = record.key?.toString();
  if (key !== board)
    throw new MalformedDefinitionRecordError(`the key is ${key ?? 'missing'}, not ${board}`);
  return {
    board,
    generation,
    since,
    definition: definition && decodeDefinition(board, definition),
    ...(starts && { starts: toMap(starts) }),
  };
}

/** A definition that this version can keep to in every field, whichever version has written it. */
function decodeDefinition(board: string, stored: object): BoardDefinition {
  const problem = (reason: string) => new MalformedDefinitionRecordError(`definition: ${reason}`);
  const definition = readDefinition(JSON.stringify(stored));
  if (definition === undefined) throw problem('it lacks fields');
  if (definition.board !== board) throw problem('it is of another board');
  if (!isDeepStrictEqual(JSON.parse(definitionText(definition)), stored))
    throw problem('it has fields that this version of ranklog does not know');
  const reason = rulesBroken(definition);
  if (reason !== undefined) throw problem(reason);
  return definition;
}

/** undefined for what is no definition: of its fields nothing is known, so that reading them may fail in any way. */
function readDefinition(text: string): BoardDefinition | undefined {
  try {
    const definition = parseDefinitionText(text);
    boardFields(definition);
    return definition;
  } catch {
    return undefined;
  }
}

/** By the rules of the boards file; undefined when none is. */
function rulesBroken(definition: BoardDefinition): string | undefined {
  const file = JSON.stringify({ boards: { [definition.board]: boardFields(definition) } });
  try {
    parseBoardsFile(file, 'definition');
    return undefined;
  } catch (error) {
    if (error instanceof BoardsFileError) return error.message;
    throw error;
  }
}

function toMap(starts: Readonly<Record<string, number>>): ReadonlyMap<number, number> {
  return new Map(Object.entries(starts).map(([partition, from]) => [Number(partition), from]));
}
