import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A line of a file, without its line break. `text` is undefined if the bytes of the line are not UTF-8. */
export interface Line {
  readonly number: number;
  readonly text: string | undefined;
  readonly bytes: number;
}

/** A line of more than 16 MiB: reading on could need unbounded memory. */
export class LineTooLongError extends Error {
  constructor(number: number) {
    super(
      `line ${number} is longer than ${LONGEST_LINE} bytes; is this a file of one JSON object a line?`,
    );
    this.name = 'LineTooLongError';
  }
}

const LONGEST_LINE = 16 * 1_024 * 1_024;
const NEWLINE = 0x0a;
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

/**
 * The lines of a file, or of standard input for `-`, in batches; gzip is recognised by its first bytes. A batch ends with the
 * line that reaches one of the limits. `onRead` gets the number of bytes that were read from the source, before any decompression.
 */
export async function* readLineBatches(
  file: string,
  limits: { readonly lines: number; readonly bytes: number },
  onRead: (bytes: number) => void,
): AsyncGenerator<Line[]> {
  const source = file === '-' ? process.stdin : createReadStream(file);
  let batch: Line[] = [];
  let bytes = 0;
  for await (const line of splitLines(await decompress(source, onRead))) {
    batch.push(line);
    bytes += line.bytes;
    if (batch.length < limits.lines && bytes < limits.bytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function decompress(
  source: Readable,
  onRead: (bytes: number) => void,
): Promise<AsyncIterable<Buffer>> {
  const chunks = Readable.from(counted(source, onRead));
  await once(chunks, 'readable');
  const first = chunks.read() as Buffer | null;
  if (first === null) return Readable.from([]);
  chunks.unshift(first);
  if (!first.subarray(0, 2).equals(GZIP_MAGIC)) return chunks;
  return pipeline(chunks, createGunzip(), () => undefined); // a failure also ends the reading of its result
}

async function* counted(source: Readable, onRead: (bytes: number) => void) {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    onRead(chunk.length);
    yield chunk;
  }
}

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of chunks) {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, from)) {
      yield toLine(++number, text.subarray(from, end));
      from = end + 1;
    }
    rest = text.subarray(from);
    if (rest.length > LONGEST_LINE) throw new LineTooLongError(number + 1);
  }
  if (rest.length > 0) yield toLine(number + 1, rest);
}

function toLine(number: number, bytes: Buffer): Line {
  return {
    number,
    text: isUtf8(bytes) ? bytes.toString('utf8').replace(/\r$/, '') : undefined,
    bytes: bytes.length,
  };
}
