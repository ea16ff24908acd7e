import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError, EXIT } from '../text/exit-codes.js';

/**
 * A line of a file, without its line break. `text` is undefined if the bytes of the line are not
 * UTF-8.
 */
export interface Line {
  readonly number: number;
  readonly text: string | undefined;
  readonly bytes: number;
}

/** Why a line without text can't be read. */
export const NOT_UTF8 =
  'the line is not valid UTF-8; convert the file, such as with "iconv -f LATIN1 -t UTF-8"';

/** 16 MiB: reading a longer line could need unbounded memory. */
const LONGEST_LINE = 16 * 1_024 * 1_024;
const NEWLINE = 0x0a;
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

async function decompress(source: Readable): Promise<AsyncIterable<Buffer>> {
  await once(source, 'readable');
  const first = source.read() as Buffer | null;
  if (first === null) return Readable.from([]);
  source.unshift(first);
  if (!first.subarray(0, 2).equals(GZIP_MAGIC)) return source;
  // A failure also ends the reading of its result
  return pipeline(source, createGunzip(), () => undefined);
}

/**
 * The size of a file in bytes; 0 for standard input (-).
 * @throws CommandError for a missing file
 */
export function sizeOf(file: string): number {
  if (file === '-') return 0;
  try {
    return statSync(file).size;
  } catch {
    throw new CommandError(`can't read ${file}; name a file, or - for standard input`, EXIT.usage);
  }
}

/**
 * The lines of a file, or of standard input (-).
 * @throws as `sizeOf` and `readLines`
 */
export async function* readFileLines(file: string): AsyncGenerator<Line> {
  sizeOf(file);
  yield* readLines(file === '-' ? process.stdin : createReadStream(file));
}

/**
 * The lines of a source, without a byte order mark; gzip is recognised by its first bytes.
 * @throws CommandError for UTF-16, and for a line of more than LONGEST_LINE bytes
 */
export async function* readLines(source: Readable): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of await decompress(source)) {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, from)) {
      yield toLine(++number, text.subarray(from, end));
      from = end + 1;
    }
    rest = text.subarray(from);
    if (rest.length > LONGEST_LINE)
      throw new CommandError(
        `line ${number + 1} is longer than ${LONGEST_LINE} bytes; is this a file of one JSON ` +
          'object a line?',
        EXIT.usage,
      );
  }
  if (rest.length > 0) yield toLine(number + 1, rest);
}

function toLine(number: number, bytes: Buffer): Line {
  if (number === 1) refuseUtf16(bytes);
  const decoded = isUtf8(bytes) ? bytes.toString('utf8').replace(/\r$/, '') : undefined;
  const text = number === 1 ? decoded?.replace(/^\uFEFF/, '') : decoded;
  return { number, text, bytes: bytes.length };
}

/**
 * Recognises UTF-16 by its byte order mark or by zero bytes: the first line of JSON or CSV in UTF-8
 * has neither.
 */
function refuseUtf16(firstLine: Buffer): void {
  const mark = firstLine.length < 2 ? 0 : firstLine.readUInt16BE();
  if (mark !== 0xfffe && mark !== 0xfeff && !firstLine.includes(0)) return;
  throw new CommandError(
    'the file is UTF-16; convert it to UTF-8, such as with "iconv -f UTF-16 -t UTF-8"',
    EXIT.usage,
  );
}
