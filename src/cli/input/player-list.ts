import { createReadStream } from 'node:fs';
import { parseObject, playerRecordProblem, type PlayerRecord } from '#contracts';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { NOT_UTF8, readLines, sizeOf } from './lines.js';

/** What lines that lack them get; `board` counts for all lines. */
export type RecordDefaults = Partial<Pick<PlayerRecord, 'board' | 'reason' | 'by'>>;

/**
 * The players of a file, each once for a board: a line has the id of one, or a JSON object as
 * `players list --json` prints it. @throws CommandError for the first line that can't be read
 */
export async function readPlayerList(
  file: string,
  defaults: RecordDefaults,
): Promise<PlayerRecord[]> {
  sizeOf(file); // throws for a missing file
  const records = new Map<string, PlayerRecord>();
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const { number, text } of readLines(source)) {
    if (text?.trim() === '') continue;
    const record = text === undefined ? NOT_UTF8 : recordOfLine(text, defaults);
    if (typeof record === 'string')
      throw new CommandError(`${file}:${number}: ${record}; nothing was sent`, EXIT.usage);
    const key = JSON.stringify([record.board, record.playerId]);
    if (!records.has(key)) records.set(key, record);
  }
  return [...records.values()];
}

/** The record of a line, or what is wrong with the line. */
export function recordOfLine(text: string, defaults: RecordDefaults): PlayerRecord | string {
  const fields = text.trimStart().startsWith('{') ? parseObject(text) : { playerId: text };
  if (fields === undefined) return 'the line begins with { and is not a JSON object';
  const { playerId, reason, by } = fields;
  const board = defaults.board ?? fields['board'];
  if (board === undefined) return 'the line names no board; name one before --file';
  const record = {
    board,
    playerId,
    reason: reason ?? defaults.reason,
    by: by ?? defaults.by,
  };
  return playerRecordProblem(record) ?? (record as PlayerRecord);
}
