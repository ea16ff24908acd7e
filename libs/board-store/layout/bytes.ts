const INITIAL_BYTES = 65_536;
const LENGTH_BYTES = 4;
/** The most bytes of UTF-8 for one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Writes bytes that `struct.unpack` of Lua reads. Its buffer grows, and is reused after `clear`.
 */
export class ByteWriter {
  #bytes = Buffer.alloc(INITIAL_BYTES);
  #position = 0;

  clear(): void {
    this.#position = 0;
  }

  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#position));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#position = this.#bytes.writeDoubleBE(value, this.#position);
  }

  uint16(value: number): void {
    this.#reserve(2);
    this.#position = this.#bytes.writeUInt16BE(value, this.#position);
  }

  /** Writes the length of a text in bytes, then its bytes. */
  text(text: string): void {
    this.#reserve(LENGTH_BYTES + MAX_BYTES_PER_UNIT * text.length);
    const begin = this.#position + LENGTH_BYTES;
    const length = text === '' ? 0 : this.#bytes.write(text, begin);
    this.#bytes.writeUInt32BE(length, this.#position);
    this.#position = begin + length;
  }

  #reserve(count: number): void {
    if (this.#position + count <= this.#bytes.length) return;

    const larger = Buffer.alloc(2 * (this.#position + count));
    this.#bytes.copy(larger, 0, 0, this.#position);
    this.#bytes = larger;
  }
}

/** Reads bytes that `struct.pack` of Lua has written, in order. */
export class ByteReader {
  #position = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#position === this.bytes.length;
  }

  double(): number {
    return this.bytes.readDoubleBE(this.#skip(8));
  }

  uint8(): number {
    return this.bytes.readUInt8(this.#skip(1));
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.#skip(2));
  }

  text(): string {
    const length = this.bytes.readUInt32BE(this.#skip(LENGTH_BYTES));
    const begin = this.#skip(length);
    return this.bytes.toString('utf8', begin, this.#position);
  }

  /** Skips `count` bytes. Returns where they begin. */
  #skip(count: number): number {
    const begin = this.#position;
    this.#position += count;
    return begin;
  }
}
