const BYTES = 65_536;
const MAX_BYTES_OF_A_CHARACTER = 3;

/** Writes numbers and texts for `struct.unpack` of Lua into a buffer that grows, and is used again. */
export class ByteWriter {
  #bytes = Buffer.alloc(BYTES);
  #at = 0;

  clear(): void {
    this.#at = 0;
  }

  /** What was written since `clear`. */
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

  /** A text of at most 255 bytes after its length. @throws RangeError */
  text8(text: string): void {
    const begin = this.#skipText(1, text);
    this.#bytes.writeUInt8(this.#at - begin, begin - 1);
  }

  text32(text: string): void {
    const begin = this.#skipText(4, text);
    this.#bytes.writeUInt32BE(this.#at - begin, begin - 4);
  }

  /** Writes a text after room for its length; returns where the text begins. */
  #skipText(lengthBytes: number, text: string): number {
    this.#reserve(lengthBytes + MAX_BYTES_OF_A_CHARACTER * text.length);
    const begin = this.#at + lengthBytes;
    this.#at = begin + this.#bytes.write(text, begin);
    return begin;
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
    this.#at += 8;
    return this.bytes.readDoubleBE(this.#at - 8);
  }

  uint8(): number {
    this.#at += 1;
    return this.bytes.readUInt8(this.#at - 1);
  }

  uint16(): number {
    this.#at += 2;
    return this.bytes.readUInt16BE(this.#at - 2);
  }

  text8(): string {
    return this.#text(this.uint8());
  }

  text32(): string {
    this.#at += 4;
    return this.#text(this.bytes.readUInt32BE(this.#at - 4));
  }

  #text(length: number): string {
    this.#at += length;
    return this.bytes.toString('utf8', this.#at - length, this.#at);
  }
}
