import { createReadStream, statSync } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inputDecimals, type BoardDefinition } from '#board';
import type { RedisClient } from '#board-store';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { columnsOf, eventOf, type CsvColumns } from './csv.js';
import { NOT_UTF8, readLines } from './lines.js';
import { roundDecimal, roundEvent } from './rounding.js';

export interface Row {
  /** `line 7`, `member "ada"` */
  readonly place: string;
  /** The JSON of a score event, maybe without a board; or why the row can't be read. */
  readonly event: { readonly json: string } | { readonly problem: string };
}

/**
 * Opens a file that can be read twice: the given file, or a temporary copy of standard input (-) or
 * of a pipe. The copy has no name any more, so the system deletes it when the process ends.
 */
export async function openRepeatable(file: string): Promise<FileHandle> {
  if (file !== '-' && statSync(file).isFile()) return open(file);
  const folder = await mkdtemp(path.join(tmpdir(), 'ranklog-import-'));
  const copy = await open(path.join(folder, 'rows'), 'wx+');
  await rm(folder, { recursive: true });
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const chunk of source as AsyncIterable<Buffer>) await copy.appendFile(chunk);
  return copy;
}

/**
 * The rows of a file, plain or gzip: NDJSON if it begins with {, else CSV with a header. A CSV row
 * is one line, as no id contains a line break. `rounds`: numbers are rounded to the decimals of
 * their inputs.
 * @throws CommandError for a bad header
 */
export async function* fileRows(
  file: FileHandle,
  definition: BoardDefinition,
  rounds = false,
): AsyncGenerator<Row> {
  let columns: CsvColumns | undefined;
  const source = file.createReadStream({ start: 0, autoClose: false });
  for await (const { number, text } of readLines(source)) {
    const isHeader = number === 1 && text?.trimStart().startsWith('{') !== true;
    if (isHeader) {
      columns = columnsOf(text, definition);
    } else if (text?.trim() !== '') {
      const event = readLine(text, columns);
      yield { place: `line ${number}`, event: rounds ? rounded(event, definition) : event };
    }
  }
}

function readLine(text: string | undefined, columns: CsvColumns | undefined): Row['event'] {
  if (text === undefined) return { problem: NOT_UTF8 };
  return columns === undefined ? { json: text } : eventOf(text, columns);
}

function rounded(event: Row['event'], definition: BoardDefinition): Row['event'] {
  return 'json' in event ? { json: roundEvent(event.json, inputDecimals(definition)) } : event;
}

/**
 * The members of a sorted set. With `decimals`, scores are rounded to so many.
 * @throws CommandError if the key has another type
 */
export async function* zsetRows(
  redis: RedisClient,
  key: string,
  decimals?: number,
): AsyncGenerator<Row> {
  const type = await redis.type(key);
  if (type !== 'zset')
    throw new CommandError(`the type of key "${key}" is ${type}; name a sorted set`, EXIT.usage);
  const steps: AsyncIterable<string[]> = redis.zscanStream(key, { count: 1_000 });
  for await (const step of steps)
    for (let index = 0; index < step.length; index += 2) {
      const playerId = step[index] ?? '';
      const score = step[index + 1] ?? '';
      const json = JSON.stringify({ playerId, delta: decimalOf(score, decimals) });
      const isText = !playerId.includes('\uFFFD'); // U+FFFD stands for bytes that are not UTF-8
      const event = isText ? { json } : { problem: 'it is not UTF-8' };
      yield { place: `member ${JSON.stringify(playerId)}`, event };
    }
}

/** Redis writes 0.1 as 0.10000000000000001; the shortest text of the same double is 0.1. */
function decimalOf(score: string, decimals?: number): string {
  const shortest = String(Number(score.replace('inf', 'Infinity')));
  return decimals === undefined ? shortest : roundDecimal(shortest, decimals);
}
