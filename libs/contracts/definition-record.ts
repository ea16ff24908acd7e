import { isDeepStrictEqual } from 'node:util';
import {
  boardFields,
  BoardsFileError,
  definitionText,
  parseBoardsFile,
  parseDefinitionText,
  type BoardDefinition,
} from '#board';
import { absentOr, count, nullOr, objectOf, OBJECT } from './checks.js';
import { DEFINITION_RECORD_TYPE } from './cloud-events.js';
import type { RawRecord } from './record.js';
import { ResultContract } from './result-contract.js';
import { ID, offsetsByPartition, STARTS } from './values.js';

/**
 * The key of the record with the settings of the ranklog. No board name has a control character.
 */
export const IDENTITY_KEY = '\u0000identity';

/**
 * Whether a record of the definitions topic defines a board. The keys of all other records begin
 * with U+0000. Readers of definitions skip them, whichever version wrote them.
 */
export function isOfBoard({ key }: Pick<RawRecord, 'key'>): boolean {
  return key?.[0] !== 0;
}

/** The value of a record of the definitions topic. */
interface StoredDefinitionRecord {
  readonly board: string;
  /** Id of the live generation, or of the last one if the board was removed. */
  readonly generation: string;
  /**
   * When the generation was promoted or the board removed, in µs of Redis' clock. The record with
   * the largest value counts.
   */
  readonly since: number;
  /** null if the board was removed. Another version may add fields. */
  readonly definition: object | null;
  /**
   * The offset at which the generation begins, by partition. Absent if it contains the whole log.
   */
  readonly starts?: Readonly<Record<string, number>>;
}

/** The definition of a board's live generation, or that the board was removed. */
export interface DefinitionRecord extends Omit<StoredDefinitionRecord, 'starts'> {
  readonly definition: BoardDefinition | null;
  readonly starts?: ReadonlyMap<number, number>;
}

const contract = new ResultContract<StoredDefinitionRecord>(
  DEFINITION_RECORD_TYPE,
  objectOf<StoredDefinitionRecord>('StoredDefinitionRecord', {
    board: ID,
    generation: ID,
    since: count(1),
    definition: nullOr(OBJECT),
    starts: absentOr(STARTS),
  }),
);

/**
 * The record of a board: keyed by its name, with CloudEvents headers and an id from board and
 * `since`.
 */
export function encodeDefinitionRecord(current: DefinitionRecord, topic: string) {
  const { board, generation, since, definition, starts } = current;
  const stored = {
    board,
    generation,
    since,
    definition: definition === null ? null : (JSON.parse(definitionText(definition)) as object),
    starts: starts === undefined ? undefined : Object.fromEntries(starts),
  };
  return {
    key: board,
    value: JSON.stringify(stored),
    headers: contract.headers(`${board}/${since}`, { topic }),
  };
}

/**
 * The fields of a record. Its definition may be one that this version of ranklog cannot read.
 * @throws MalformedRecordError
 */
export function decodeStoredDefinition(record: RawRecord): StoredDefinitionRecord {
  const stored = contract.decode(record);
  const key = record.key?.toString();
  if (key === stored.board) return stored;
  throw contract.malformed(`the key is ${key ?? 'missing'}, not ${stored.board}`);
}

/** @throws MalformedRecordError */
export function decodeDefinitionRecord(record: RawRecord): DefinitionRecord {
  const { board, generation, since, definition, starts } = decodeStoredDefinition(record);
  const decoded = {
    board,
    generation,
    since,
    definition: definition === null ? null : decodeDefinition(board, definition),
  };
  if (starts === undefined) return decoded;
  return { ...decoded, starts: offsetsByPartition(starts) };
}

/**
 * Another version of ranklog may have written the definition. This version refuses a definition
 * with fields unknown to it.
 */
function decodeDefinition(board: string, stored: object): BoardDefinition {
  const problem = (reason: string) => contract.malformed(`definition: ${reason}`);
  const definition = readDefinition(JSON.stringify(stored));
  if (definition === undefined) throw problem('it lacks fields');
  if (definition.board !== board) throw problem('it is of another board');
  if (!isDeepStrictEqual(JSON.parse(definitionText(definition)), stored))
    throw problem('it has fields that this version of ranklog does not know');
  const fields = JSON.stringify({ boards: { [board]: boardFields(definition) } });
  try {
    parseBoardsFile(fields, 'definition');
  } catch (error) {
    if (error instanceof BoardsFileError) throw problem(error.message);
    throw error;
  }
  return definition;
}

/** Returns undefined if fields are missing: then parsing can throw any error. */
function readDefinition(text: string): BoardDefinition | undefined {
  try {
    const definition = parseDefinitionText(text);
    boardFields(definition); // throws if fields are missing
    return definition;
  } catch {
    return undefined;
  }
}
