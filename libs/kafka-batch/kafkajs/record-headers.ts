/**
 * Decoded headers. They have no prototype, so each name is a header or undefined. The values of a
 * repeated header are a list.
 */
export type DecodedHeaders = Record<string, Buffer | Buffer[] | undefined>;

/** A position in the bytes of a record. */
export class Cursor {
  constructor(
    private readonly bytes: Buffer,
    public at: number,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /**
   * Reads a varint of 32 bits, the form of most numbers in a record. Past the end, all bytes are 0.
   */
  varint(): number {
    let byte = this.bytes[this.at++] ?? 0;
    let zigzag = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = this.bytes[this.at++] ?? 0;
      zigzag |= (byte & 0x7f) << shift;
    }
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }

  /** Reads a varint of 64 bits, the form of times; NaN if it has more than 49 bits. */
  varlong(): number {
    let zigzag = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      zigzag += (byte & 0x7f) * scale;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    }
    return NaN;
  }
}

/**
 * The headers of a record as the bytes that Kafka sent. Most are never read, and decoding all of
 * them costs several times as much as reading a few by name. All reads take linear time. Never
 * throws, for any bytes.
 */
export class EncodedHeaders {
  static readonly none = new EncodedHeaders(0, Buffer.alloc(0), 0);

  /** `bytes` are a record, whose headers begin at `from` and are its last part. */
  constructor(
    /** A repeated header counts as several. */
    readonly count: number,
    private readonly bytes: Buffer,
    private readonly from: number,
  ) {}

  get byteLength(): number {
    return this.bytes.length - this.from;
  }

  /**
   * The last header of this name, which is in ASCII; undefined if it is missing or has no value.
   */
  last(name: string): Buffer | undefined {
    const range = this.#lastRange(name);
    return range && this.bytes.subarray(range.begin, range.end);
  }

  /** The text of `last(name)`, without a buffer in between. */
  text(name: string): string | undefined {
    const range = this.#lastRange(name);
    return range && this.bytes.toString('utf8', range.begin, range.end);
  }

  decode(): DecodedHeaders {
    const headers = Object.create(null) as Record<string, Buffer | (Buffer | null)[] | null>;
    const cursor = new Cursor(this.bytes, this.from);
    for (let index = 0; index < this.count && !cursor.isAtEnd; index++) {
      const name = this.#take(cursor)?.toString() ?? '';
      const value = this.#take(cursor);
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else headers[name] = [before, value];
    }
    return headers as DecodedHeaders; // the type hides null, as in kafkajs
  }

  /** kafkajs calls it to make an object of the headers that it has read. */
  reduce(): this {
    return this;
  }

  #take(cursor: Cursor): Buffer | null {
    const length = cursor.varint();
    if (length < 0) return null;
    const begin = cursor.at;
    cursor.at += length;
    return this.bytes.subarray(begin, cursor.at);
  }

  /** The range of the last header's value; undefined if the header or its value is missing. */
  #lastRange(name: string): { readonly begin: number; readonly end: number } | undefined {
    const cursor = new Cursor(this.bytes, this.from);
    let begin = 0;
    let length = -1;
    for (let index = 0; index < this.count && !cursor.isAtEnd; index++) {
      const nameLength = Math.max(cursor.varint(), 0);
      const isFound = nameLength === name.length && this.#isAt(cursor.at, name);
      cursor.at += nameLength;
      const valueLength = cursor.varint();
      if (isFound) {
        begin = cursor.at;
        length = valueLength;
      }
      cursor.at += Math.max(valueLength, 0);
    }
    return length < 0 ? undefined : { begin, end: begin + length };
  }

  #isAt(begin: number, name: string): boolean {
    for (let index = 0; index < name.length; index++)
      if (this.bytes[begin + index] !== name.charCodeAt(index)) return false;
    return true;
  }
}
