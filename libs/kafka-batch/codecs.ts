import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { MissingCodecError } from './errors.js';

const { CompressionCodecs, CompressionTypes } = kafkajs;

interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}

/** Missing before Node 22.15. */
const { zstdCompress, zstdDecompress } = zlib as {
  readonly zstdCompress?: typeof zlib.deflate;
  readonly zstdDecompress?: typeof zlib.deflate;
};

/** Adds zstd to kafkajs if Node has it. Other missing codecs throw a MissingCodecError on use. Keeps the application's codecs. */
export function registerCodecs(): void {
  const codecs = CompressionCodecs as Record<number, () => Codec>;
  for (const [name, type] of Object.entries(CompressionTypes)) {
    if (typeof type === 'string' || !isMissing(codecs[type])) continue;
    const zstd = type === CompressionTypes.ZSTD ? zstdCodec() : undefined;
    codecs[type] = () => {
      if (zstd === undefined) throw new MissingCodecError(name.toLowerCase());
      return zstd;
    };
  }
}

function isMissing(codec: (() => Codec) | undefined): boolean {
  try {
    codec?.(); // a placeholder of kafkajs throws
    return false;
  } catch {
    return true;
  }
}

function zstdCodec(): Codec | undefined {
  if (zstdCompress === undefined || zstdDecompress === undefined) return undefined;
  const compress = promisify(zstdCompress);
  const decompress = promisify(zstdDecompress);
  return { compress: ({ buffer }) => compress(buffer), decompress: (buffer) => decompress(buffer) };
}
