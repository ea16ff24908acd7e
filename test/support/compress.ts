import zlib from 'node:zlib';
import kafkajs, { CompressionTypes } from 'kafkajs';

/**
 * A way to compress the records of a batch. The broker decompresses each batch that it gets, so it
 * refuses a broken one.
 */
export interface Compression {
  readonly name: string;
  readonly type: CompressionTypes;
  readonly compress: (bytes: Buffer) => Buffer;
}

/** Snappy has two framings: that of the Java client (xerial), and none, as librdkafka sends it. */
export const COMPRESSIONS: readonly Compression[] = [
  { name: 'gzip', type: CompressionTypes.GZIP, compress: (bytes) => zlib.gzipSync(bytes) },
  { name: 'snappy', type: CompressionTypes.Snappy, compress: snappy },
  { name: 'xerial snappy', type: CompressionTypes.Snappy, compress: xerialSnappy },
  { name: 'lz4', type: CompressionTypes.LZ4, compress: lz4 },
  { name: 'zstd', type: CompressionTypes.ZSTD, compress: zstd },
];

/** Makes the producers of kafkajs in this process compress in this way when they send its type. */
export function useCompression({ type, compress }: Compression): void {
  const codecs = kafkajs.CompressionCodecs as Record<number, () => object>;
  codecs[type] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(compress(buffer)),
  });
}

/**
 * Literal bytes, and a copy of as many bytes as `length` that were written `distance` bytes before
 * it.
 */
interface Sequence {
  readonly literal: Buffer;
  readonly distance: number;
  readonly length: number;
}

/** LZ4 forbids copies in the last bytes of a block. */
const LAST_LITERAL = 12;
const LEAST_COPY = 4;
const MAX_BLOCK = 65_536;

/** The last sequence of a block has no copy. */
function* sequencesOf(block: Buffer): Generator<Sequence> {
  const places = new Map<number, number>();
  const end = block.length - LAST_LITERAL;
  let from = 0;
  let at = 0;
  while (at + LEAST_COPY <= end) {
    const word = block.readUInt32LE(at);
    const before = places.get(word);
    places.set(word, at);
    if (before === undefined) {
      at += 1;
      continue;
    }
    let length = LEAST_COPY;
    while (at + length < end && block[before + length] === block[at + length]) length += 1;
    yield { literal: block.subarray(from, at), distance: at - before, length };
    at += length;
    from = at;
  }
  yield { literal: block.subarray(from), distance: 0, length: 0 };
}

function blocksOf(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / MAX_BLOCK);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * MAX_BLOCK, (index + 1) * MAX_BLOCK),
  );
}

/** Magic number, flags (independent blocks), block size of 64 KiB, checksum of both. */
const LZ4_HEADER = Buffer.from('04224d18604082', 'hex');
const LZ4_END = Buffer.alloc(4);

function lz4(bytes: Buffer): Buffer {
  const blocks = blocksOf(bytes).flatMap((block) => {
    const packed = Buffer.concat([...sequencesOf(block)].flatMap(lz4Sequence));
    return [uint32LE(packed.length), packed];
  });
  return Buffer.concat([LZ4_HEADER, ...blocks, LZ4_END]);
}

function lz4Sequence({ literal, distance, length }: Sequence): Buffer[] {
  const copied = length === 0 ? 0 : length - LEAST_COPY;
  const token = (Math.min(literal.length, 15) << 4) | Math.min(copied, 15);
  const parts = [Buffer.from([token]), lz4Rest(literal.length), literal];
  return length === 0 ? parts : [...parts, uint16LE(distance), lz4Rest(copied)];
}

/** The part of a length that does not fit in the token: bytes of 255, and a smaller one. */
function lz4Rest(length: number): Buffer {
  if (length < 15) return Buffer.alloc(0);
  const full = Math.floor((length - 15) / 255);
  return Buffer.concat([Buffer.alloc(full, 255), Buffer.from([(length - 15) % 255])]);
}

function snappy(bytes: Buffer): Buffer {
  const parts = blocksOf(bytes).flatMap((block) => [...sequencesOf(block)].flatMap(snappySequence));
  return Buffer.concat([varint(bytes.length), ...parts]);
}

const SNAPPY_MOST_COPIED = 64;

function snappySequence({ literal, distance, length }: Sequence): Buffer[] {
  const parts: Buffer[] = [];
  // A tag of 61 says that the length of the literal, less 1, follows in two bytes.
  if (literal.length > 0) parts.push(Buffer.from([61 << 2]), uint16LE(literal.length - 1), literal);
  for (let left = length; left > 0; left -= SNAPPY_MOST_COPIED) {
    const copied = Math.min(left, SNAPPY_MOST_COPIED);
    parts.push(Buffer.from([((copied - 1) << 2) | 2]), uint16LE(distance));
  }
  return parts;
}

/** Magic number, version and oldest compatible version. */
const XERIAL_HEADER = Buffer.from('82534e4150505900' + '00000001' + '00000001', 'hex');

function xerialSnappy(bytes: Buffer): Buffer {
  const blocks = blocksOf(bytes).flatMap((block) => {
    const packed = snappy(block);
    const size = Buffer.alloc(4);
    size.writeInt32BE(packed.length);
    return [size, packed];
  });
  return Buffer.concat([XERIAL_HEADER, ...blocks]);
}

/**
 * Magic number, flags (size of the content in four bytes, one segment). Node has a compressor from
 * 22.15 on only.
 */
const ZSTD_HEADER = Buffer.from('28b52ffd' + 'a0', 'hex');

/** A frame of blocks that are not compressed. */
function zstd(bytes: Buffer): Buffer {
  const blocks = blocksOf(bytes);
  const framed = blocks.flatMap((block, index) => {
    const isLast = index === blocks.length - 1 ? 1 : 0;
    return [uint32LE((block.length << 3) | isLast).subarray(0, 3), block];
  });
  return Buffer.concat([ZSTD_HEADER, uint32LE(bytes.length), ...framed]);
}

function uint16LE(value: number): Buffer {
  return Buffer.from([value & 0xff, value >> 8]);
}

function uint32LE(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
