import { promisify } from 'node:util';
import zlib, { type ZlibOptions } from 'node:zlib';
import { RanklogError } from '#errors';
import { CorruptError, decodeLz4, decodeSnappy, OversizeError } from './block-decoders.js';

/**
 * A batch that is larger when it is decompressed stops its partition: 64 KB of gzip can hold 64
 * MiB. Kafka accepts 1 MiB of compressed records by default, and events shrink to about a tenth, so
 * real batches are far smaller.
 */
export const MAX_DECOMPRESSED_BYTES = 64 * 1_024 * 1_024;

type Decode = (bytes: Buffer, most: number) => Buffer | Promise<Buffer>;

/** The codecs of Kafka, by their number in the attributes of a batch. */
const CODECS = new Map<number, { readonly name: string; readonly decode: Decode }>([
  [1, { name: 'gzip', decode: nativeDecoder(zlib.unzip) }],
  [2, { name: 'snappy', decode: decodeSnappy }],
  [3, { name: 'lz4', decode: decodeLz4 }],
  [4, { name: 'zstd', decode: zstdDecoder() }],
]);

/**
 * The bytes of a batch are broken, or too many: they can never be read. The message completes the
 * sentence "these records are ...".
 */
export class BrokenBatchError extends RanklogError {}

/**
 * Decompresses the records of a batch.
 * @throws BrokenBatchError, or another error if the bytes are not at fault
 */
export async function decompress(codec: number, bytes: Buffer): Promise<Buffer> {
  const known = CODECS.get(codec);
  if (known === undefined) {
    const names = [...CODECS.values()].map(({ name }) => name);
    throw new BrokenBatchError(`compressed with codec ${codec}; known are ${names.join(', ')}`);
  }
  const { name, decode } = known;
  try {
    return await decode(bytes, MAX_DECOMPRESSED_BYTES);
  } catch (cause) {
    const isOversize = cause instanceof OversizeError || isTooLargeForNode(cause);
    if (!isOversize && !isCorrupt(cause)) throw cause;
    const problem = isOversize ? `more than ${MAX_DECOMPRESSED_BYTES} bytes` : 'broken';
    throw new BrokenBatchError(`compressed with ${name}, and ${problem}`, { cause });
  }
}

function isTooLargeForNode(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
}

/** Errors of zlib and zstd in Node about data; others are about memory or parameters. */
const CORRUPT_CODES = /^(Z_(DATA|BUF)_ERROR|Z_NEED_DICT|ZSTD_error_(?!memory).*)$/;

/** Compares the message, because V8 gives this error no code. */
function isWithoutMemory(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Array buffer allocation failed';
}

function isCorrupt(error: unknown): boolean {
  if (isWithoutMemory(error)) return false;
  // A RangeError means a read past the end of a buffer.
  if (error instanceof CorruptError || error instanceof RangeError) return true;
  return CORRUPT_CODES.test((error as NodeJS.ErrnoException).code ?? '');
}

type NativeDecode = typeof zlib.unzip;

/** Node checks the limit while it decompresses. */
function nativeDecoder(decode: NativeDecode): Decode {
  const run = promisify<Buffer, ZlibOptions, Buffer>(decode);
  return (bytes, most) => run(bytes, { maxOutputLength: most });
}

/** Node has zstd from 22.15 on. */
function zstdDecoder(): Decode {
  const { zstdDecompress } = zlib as { readonly zstdDecompress?: NativeDecode };
  return zstdDecompress === undefined ? decodeZstd : nativeDecoder(zstdDecompress);
}

/**
 * Decompresses with the zstd library as WebAssembly, which is loaded on first use. For broken
 * bytes, the library returns empty parts without end, and never frees some KB of memory. That is
 * acceptable, because such a batch stops its partition.
 * @throws OversizeError, CorruptError, or an error if the library can't be loaded
 */
export async function decodeZstd(bytes: Buffer, most: number): Promise<Buffer> {
  const decoder = await loadZstd();
  const parts: Uint8Array[] = [];
  let length = 0;
  let isStuck = false;
  try {
    for (const part of decoder.decodeStreaming([bytes])) {
      if (isStuck) throw new Error('its zstd frame is broken');
      isStuck = part.length === 0;
      length += part.length;
      if (length > most) throw new OversizeError(`more than ${most} bytes`);
      parts.push(part);
    }
  } catch (cause) {
    if (cause instanceof OversizeError || isWithoutMemory(cause)) throw cause;
    throw new CorruptError('zstd refuses it', { cause });
  }
  return Buffer.concat(parts, length);
}

async function loadZstd() {
  try {
    const { ZSTDDecoder } = await import('zstddec/stream');
    const decoder = new ZSTDDecoder();
    await decoder.init();
    return decoder;
  } catch (cause) {
    // Without memory, WebAssembly throws a RangeError, which would count as corrupt bytes.
    throw new Error('zstd could not be loaded', { cause });
  }
}
