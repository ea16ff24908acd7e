import { parseObject, playerRecordProblem, type PlayerRecord } from '#contracts';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { NOT_UTF8, readFileLines } from './lines.js';

/** Fields of lines that lack them. `board` replaces the board of each line. */
type RecordDefaults = Partial<Pick<PlayerRecord, 'board' | 'reason' | 'by'>>;

/**
 * The players of a file, each once for a board. A line has the id of a player, or a JSON object as
 * `players list --json` prints it.
 * @throws CommandError for the first line that can't be read
 */
export async function readPlayerList(
  file: string,
  defaults: RecordDefaults,
): Promise<PlayerRecord[]> {
  const records = new Map<string, PlayerRecord>();
  for await (const { number, text } of readFileLines(file)) {
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
