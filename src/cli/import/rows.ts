import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Redis } from 'ioredis';
import { CommandError, EXIT } from '../exit-codes.js';
import { readLineBatches } from '../lines.js';

/** A row of a source. */
export interface Row {
  /** `line 7`, `member "ada"` */
  readonly place: string;
  /** The JSON of a score event, maybe without a board; undefined if the row is not UTF-8, or not CSV like the header. */
  readonly text: string | undefined;
}

const BATCH = { lines: 1_000, bytes: 1_048_576 };

/**
 * The rows of a file, plain or gzip, or of standard input (-): NDJSON if it begins with {, else CSV with a header. A CSV row is
 * one line, as no id contains a line break. @throws CommandError for a bad header
 */
export async function* fileRows(file: string): AsyncGenerator<Row> {
  let names: string[] | undefined;
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const lines of readLineBatches(source, BATCH))
    for (const { number, text } of lines) {
      const place = `line ${number}`;
      if (number === 1 && text?.trimStart().startsWith('{') !== true) names = namesOf(text ?? '');
      else if (text?.trim() !== '')
        yield { place, text: names && text !== undefined ? eventOf(names, text) : text };
    }
}

function namesOf(header: string): string[] {
  const names = cellsOf(header);
  if (names.includes('playerId')) return names;
  throw new CommandError(
    'the first line is neither a JSON object nor a CSV header: playerId, the inputs of the board, and maybe occurredAt',
    EXIT.usage,
  );
}

/** The cells of a line; none if it is not CSV. */
function cellsOf(line: string): string[] {
  try {
    return parse(line, { bom: true })[0] ?? [];
  } catch {
    return [];
  }
}

/** An empty cell is a missing field. */
function eventOf(names: readonly string[], line: string): string | undefined {
  const cells = cellsOf(line);
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
  const steps: AsyncIterable<Buffer[]> = redis.zscanBufferStream(key, { count: BATCH.lines });
  for await (const step of steps)
    for (let at = 0; at < step.length; at += 2) {
      const [member = Buffer.of(), score] = step.slice(at, at + 2);
      const playerId = member.toString();
      const text = JSON.stringify({ playerId, delta: decimalOf(String(score), decimals) });
      yield {
        place: `member ${JSON.stringify(playerId)}`,
        text: isUtf8(member) ? text : undefined,
      };
    }
}

/** Redis writes 0.1 as 0.10000000000000001; the shortest text of the same double is 0.1. */
function decimalOf(score: string, decimals?: number): string {
  const double = Number(score.replace('inf', 'Infinity'));
  return decimals === undefined ? String(double) : double.toFixed(decimals);
}
