/**
 * Decoders of LZ4 and Snappy: no package for them is both maintained and safe for hostile input.
 * Both formats are sequences of literals and of copies of earlier output. The decoders read each
 * byte of the input once, and never write more than `most` bytes.
 */

import { RanklogError } from '#errors';

/** The decompressed bytes exceed the limit. */
export class OversizeError extends RanklogError {}

/** The bytes do not have the format. */
export class CorruptError extends RanklogError {}

/** Grows with the output: a length that the input claims allocates nothing. */
class Output {
  #bytes: Buffer;
  length = 0;

  constructor(
    private readonly most: number,
    expected: number,
  ) {
    this.#bytes = Buffer.allocUnsafe(Math.min(most, expected));
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  literal(input: Buffer, from: number, length: number): void {
    if (from + length > input.length) throw new CorruptError('a literal exceeds the input');
    this.#reserve(length);
    input.copy(this.#bytes, this.length, from, from + length);
    this.length += length;
  }

  /** Repeats bytes written `distance` bytes ago; they may overlap with the bytes written here. */
  copy(distance: number, length: number): void {
    if (distance === 0 || distance > this.length) throw new CorruptError('a copy has no source');
    this.#reserve(length);
    const bytes = this.#bytes;
    const end = this.length + length;
    if (distance >= length) {
      bytes.copyWithin(this.length, this.length - distance, end - distance);
    } else {
      for (let at = this.length; at < end; at++) bytes[at] = bytes[at - distance] ?? 0;
    }
    this.length = end;
  }

  #reserve(length: number): void {
    const needed = this.length + length;
    if (needed > this.most) throw new OversizeError(`more than ${this.most} bytes`);
    if (needed <= this.#bytes.length) return;

    const larger = Buffer.allocUnsafe(Math.min(this.most, Math.max(needed, 2 * this.length)));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

/** About how many times larger a batch is when it is decompressed. */
const USUAL_RATIO = 8;

/**
 * Frames of LZ4. The batch has a checksum of its own, so the frame's are not checked.
 * @throws OversizeError, or for bad bytes
 */
export function decodeLz4(input: Buffer, most: number): Buffer {
  const output = new Output(most, input.length * USUAL_RATIO);
  let at = 0;
  while (at < input.length) at = lz4Frame(input, at, output);
  return output.bytes;
}

const LZ4_MAGIC = 0x18_4d_22_04;
const LZ4_FLAG = { contentSize: 8, contentChecksum: 4, blockChecksum: 16, dictionary: 1 };
const LZ4_UNCOMPRESSED = 0x8000_0000;

/** Returns where the frame ends. */
function lz4Frame(input: Buffer, begin: number, output: Output): number {
  if (input.readUInt32LE(begin) !== LZ4_MAGIC) throw new CorruptError('it is no LZ4 frame');
  const flags = input.readUInt8(begin + 4);
  if (flags & LZ4_FLAG.dictionary) throw new CorruptError('its LZ4 frame needs a dictionary');

  const headerBytes = flags & LZ4_FLAG.contentSize ? 15 : 7;
  const blockChecksumBytes = flags & LZ4_FLAG.blockChecksum ? 4 : 0;
  const contentChecksumBytes = flags & LZ4_FLAG.contentChecksum ? 4 : 0;
  let at = begin + headerBytes;
  for (;;) {
    const size = input.readUInt32LE(at);
    at += 4;
    if (size === 0) return at + contentChecksumBytes;

    const length = size & ~LZ4_UNCOMPRESSED;
    if (at + length > input.length) throw new CorruptError('a block exceeds the input');
    if (size & LZ4_UNCOMPRESSED) output.literal(input, at, length);
    else lz4Block(input.subarray(at, at + length), output);
    at += length + blockChecksumBytes;
  }
}

function lz4Block(block: Buffer, output: Output): void {
  let at = 0;
  /** If the token has the length 15, the next bytes add to it. The last of them is below 255. */
  const length = (nibble: number) => {
    if (nibble < 15) return nibble;
    let sum = nibble;
    for (;;) {
      const more = block.readUInt8(at++);
      sum += more;
      if (more < 255) return sum;
    }
  };
  while (at < block.length) {
    const token = block.readUInt8(at++);
    const literals = length(token >> 4);
    output.literal(block, at, literals);
    at += literals;
    if (at >= block.length) return; // the last sequence has no copy
    const distance = block.readUInt16LE(at);
    at += 2;
    output.copy(distance, length(token & 15) + 4);
  }
}

/** "\x82SNAPPY\0", then two versions of 4 bytes: the framing of xerial, used by the Java client. */
const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const XERIAL_HEADER_BYTES = 16;

/**
 * One block, as librdkafka writes it, or blocks in the framing of xerial.
 * @throws OversizeError, or for bad bytes
 */
export function decodeSnappy(input: Buffer, most: number): Buffer {
  const output = new Output(most, input.length * USUAL_RATIO);
  if (!input.subarray(0, XERIAL.length).equals(XERIAL)) {
    snappyBlock(input, output);
    return output.bytes;
  }

  let at = XERIAL_HEADER_BYTES;
  while (at < input.length) {
    const end = at + 4 + input.readUInt32BE(at);
    if (end > input.length) throw new CorruptError('a block exceeds the input');
    snappyBlock(input.subarray(at + 4, end), output);
    at = end;
  }
  return output.bytes;
}

/** The kinds of elements. Other kinds are copies whose distance has 2 or 4 bytes. */
const SNAPPY_KIND = { literal: 0, copyOfShortDistance: 1, copyOfTwoBytes: 2 };

function snappyBlock(block: Buffer, output: Output): void {
  let at = 0;

  // The length of the output, as a varint.
  let expected = output.length;
  let factor = 1;
  let byte: number;
  do {
    byte = block.readUInt8(at++);
    expected += (byte & 127) * factor;
    factor *= 128;
  } while (byte > 127);

  while (at < block.length) {
    const tag = block.readUInt8(at++);
    const kind = tag & 3;
    if (kind === SNAPPY_KIND.literal) {
      const short = tag >> 2;
      const bytes = Math.max(0, short - 59);
      const length = (bytes === 0 ? short : block.readUIntLE(at, bytes)) + 1;
      at += bytes;
      output.literal(block, at, length);
      at += length;
    } else if (kind === SNAPPY_KIND.copyOfShortDistance) {
      const distance = ((tag >> 5) << 8) | block.readUInt8(at++);
      output.copy(distance, ((tag >> 2) & 7) + 4);
    } else {
      const bytes = kind === SNAPPY_KIND.copyOfTwoBytes ? 2 : 4;
      output.copy(block.readUIntLE(at, bytes), (tag >> 2) + 1);
      at += bytes;
    }
  }
  if (output.length !== expected) throw new CorruptError('a block has another length than it says');
}
