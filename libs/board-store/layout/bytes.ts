const FIRST_BYTES = 65_536;
const LENGTH_BYTES = 4;
/** Of UTF-8, for a UTF-16 unit. */
const MAX_BYTES_OF_A_UNIT = 3;

/** Writes what `struct.unpack` of Lua reads, into a buffer that grows and is used again. */
export class ByteWriter {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #at = 0;

  clear(): void {
    this.#at = 0;
  }

  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleBE(value, this.#at);
  }

  uint16(value: number): void {
    this.#reserve(2);
    this.#at = this.#bytes.writeUInt16BE(value, this.#at);
  }

  /** The length of a text in bytes, then its bytes. */
  text(text: string): void {
    this.#reserve(LENGTH_BYTES + MAX_BYTES_OF_A_UNIT * text.length);
    const length = text === '' ? 0 : this.#bytes.write(text, this.#at + LENGTH_BYTES);
    this.#at = this.#bytes.writeUInt32BE(length, this.#at) + length;
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.#at + count));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** Reads what `struct.pack` of Lua has written, in order. */
export class ByteReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
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
    const begin = this.#skip(this.bytes.readUInt32BE(this.#skip(LENGTH_BYTES)));
    return this.bytes.toString('utf8', begin, this.#at);
  }

  /** Where the next `count` bytes begin. */
  #skip(count: number): number {
    this.#at += count;
    return this.#at - count;
  }
}
