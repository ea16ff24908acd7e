import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Redis } from 'ioredis';
import { CommandError, EXIT } from '../exit-codes.js';
import { readLines } from '../lines.js';

export interface Row {
  /** `line 7`, `member "ada"` */
  readonly place: string;
  /** The JSON of a score event, maybe without a board; undefined if the row is not UTF-8, or not CSV like the header. */
  readonly text: string | undefined;
}

/**
 * The rows of a file, plain or gzip, or of standard input (-): NDJSON if it begins with {, else CSV with a header. A CSV row is
 * one line, as no id contains a line break. @throws CommandError for a bad header
 */
export async function* fileRows(file: string): AsyncGenerator<Row> {
  let names: string[] | undefined;
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const { number, text } of readLines(source))
    if (number === 1 && text?.trimStart().startsWith('{') !== true) names = namesOf(text);
    else if (text?.trim() !== '')
      yield { place: `line ${number}`, text: names ? eventOf(names, cellsOf(text)) : text };
}

function namesOf(header?: string): string[] {
  const names = cellsOf(header);
  if (names.includes('playerId')) return names;
  throw new CommandError(
    'the first line is neither a JSON object nor a CSV header: playerId, the inputs of the board, and maybe occurredAt',
    EXIT.usage,
  );
}

/** The cells of a line; none if it is not CSV. */
function cellsOf(line = ''): string[] {
  try {
    return parse(line, { bom: true, record_delimiter: '\n' })[0] ?? [];
  } catch {
    return [];
  }
}

/** An empty cell is a missing field. */
function eventOf(names: readonly string[], cells: readonly string[]): string | undefined {
  if (cells.length !== names.length) return undefined;
  const fields = names.map((name, index) => [name, cells[index] || undefined] as const);
  const { playerId, occurredAt, ...deltas } = Object.fromEntries(fields);
  return JSON.stringify({ playerId, occurredAt, deltas });
}

/** The members of a ZSET. With `decimals`, scores are rounded to so many. @throws CommandError */
export async function* zsetRows(redis: Redis, key: string, decimals?: number): AsyncGenerator<Row> {
  const type = await redis.type(key);
  if (type !== 'zset')
    throw new CommandError(`the type of key "${key}" is ${type}; name a sorted set`, EXIT.usage);
  const steps: AsyncIterable<string[]> = redis.zscanStream(key, { count: 1_000 });
  for await (const step of steps)
    for (let at = 0; at < step.length; at += 2) {
      const [playerId = '', score = ''] = step.slice(at, at + 2);
      const text = JSON.stringify({ playerId, delta: decimalOf(score, decimals) });
      const isText = !playerId.includes('\uFFFD'); // U+FFFD stands for bytes that are not UTF-8
      yield { place: `member ${JSON.stringify(playerId)}`, text: isText ? text : undefined };
    }
}

/** Redis writes 0.1 as 0.10000000000000001; the shortest text of the same double is 0.1. */
function decimalOf(score: string, decimals?: number): string {
  const double = Number(score.replace('inf', 'Infinity'));
  return decimals === undefined ? String(double) : double.toFixed(decimals);
}
