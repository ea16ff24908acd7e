import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Redis } from 'ioredis';
import { CommandError, EXIT } from '../exit-codes.js';
import { readLineBatches } from '../lines.js';

/** A row of a source: the JSON of a score event, maybe without a board; or why it can't be read. */
export interface Row {
  /** `line 7`, `member "ada"` */
  readonly place: string;
  readonly text?: string;
  readonly problem?: string;
}
type Reading = Omit<Row, 'place'>;

const BATCH = { lines: 1_000, bytes: 1_048_576 };
const NOT_UTF8 = { problem: 'it is not valid UTF-8' };

/**
 * The rows of a file, plain or gzip, or of standard input (-): NDJSON if it begins with {, else CSV with a header. A CSV row is
 * one line, as no id contains a line break. @throws CommandError for a bad header
 */
export async function* fileRows(file: string): AsyncGenerator<Row> {
  let read: ((line: string) => Reading) | undefined;
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const lines of readLineBatches(source, BATCH))
    for (const { number, text } of lines) {
      const line = text?.replace(/^\uFEFF/, '');
      if (line?.trim() === '') continue;
      const isHeader = read === undefined && line?.trimStart().startsWith('{') !== true;
      read ??= isHeader ? csvReader(line ?? '') : (json) => ({ text: json });
      if (!isHeader)
        yield { place: `line ${number}`, ...(line === undefined ? NOT_UTF8 : read(line)) };
    }
}

function csvReader(header: string): (line: string) => Reading {
  const names = cellsOf(header);
  if (!Array.isArray(names) || !names.includes('playerId') || new Set(names).size < names.length)
    throw new CommandError(
      'the first line is neither a JSON object nor a CSV header with different names: playerId, delta or columns of the board, and maybe occurredAt and attributes.NAME',
      EXIT.usage,
    );
  return (line) => {
    const cells = cellsOf(line);
    if (!Array.isArray(cells)) return cells;
    if (cells.length === names.length) return { text: eventOf(names, cells) };
    return { problem: `it has ${cells.length} cells, and the header has ${names.length}` };
  };
}

function cellsOf(line: string): string[] | Reading {
  try {
    return parse(line, { relax_column_count: true })[0] ?? [];
  } catch (error) {
    return { problem: String(error) };
  }
}

/** An empty cell is a missing field. */
function eventOf(names: readonly string[], cells: readonly string[]): string {
  const event: Record<string, string> = {};
  const deltas: Record<string, string> = {};
  const attributes: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const [, attribute] = /^attributes\.(.*)/.exec(name) ?? [];
    const isField = ['playerId', 'delta', 'occurredAt'].includes(name);
    const fields = isField ? event : attribute === undefined ? deltas : attributes;
    const { [index]: cell = '' } = cells;
    if (cell !== '') fields[attribute ?? name] = cell;
  }
  return JSON.stringify({ ...event, attributes, ...(event['delta'] === undefined && { deltas }) });
}

/** The members of a ZSET, about 1,000 a step. With `round`, scores have so many decimals. @throws CommandError */
export async function* zsetRows(redis: Redis, key: string, round?: number): AsyncGenerator<Row> {
  const type = await redis.type(key);
  if (type !== 'zset')
    throw new CommandError(`the type of key "${key}" is ${type}; name a sorted set`, EXIT.usage);
  const steps: AsyncIterable<Buffer[]> = redis.zscanBufferStream(key, { count: BATCH.lines });
  for await (const step of steps)
    for (let at = 0; at < step.length; at += 2) {
      const [member = Buffer.of(), score] = [step[at], String(step[at + 1])];
      const playerId = member.toString();
      const text = JSON.stringify({ playerId, delta: decimalOf(score, round) });
      const reading = isUtf8(member) ? { text } : NOT_UTF8;
      yield { place: `member ${JSON.stringify(playerId)}`, ...reading };
    }
}

/** The shortest decimal that is this double, without an exponent; or the rounded double. Infinities stay as Redis writes them. */
export function decimalOf(score: string, round?: number): string {
  const double = Number(score);
  if (Number.isNaN(double)) return score;
  if (round !== undefined) return double.toFixed(round);
  const [mantissa = '', exponent] = String(double).split('e');
  if (exponent === undefined) return mantissa;
  if (Number(exponent) > 0) return String(BigInt(double));
  const sign = double < 0 ? '-' : '';
  return `${sign}0.${'0'.repeat(-Number(exponent) - 1)}${mantissa.replace(/[-.]/g, '')}`;
}
