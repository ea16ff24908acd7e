/** Api keys of the requests that tests use. */
export const KAFKA_API = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetFetch: 9,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  syncGroup: 14,
  initProducerId: 22,
  addPartitionsToTxn: 24,
  addOffsetsToTxn: 25,
  endTxn: 26,
  txnOffsetCommit: 28,
} as const;

/** A request of a client; `frame` has all its bytes. */
export interface KafkaRequest {
  readonly apiKey: number;
  readonly version: number;
  readonly correlationId: number;
  readonly body: Buffer;
  readonly frame: Buffer;
}

/** Splits a stream into frames: a length of four bytes, then as many bytes. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** Returns the frames that are now complete, each with its four bytes of length. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted()) return [];
    let rest = Buffer.concat(this.#chunks);
    const frames: Buffer[] = [];
    while (rest.length >= 4 && rest.length >= frameSize(rest)) {
      const size = frameSize(rest);
      frames.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    this.#chunks = [rest];
    this.#bytes = rest.length;
    return frames;
  }

  #wanted(): number {
    if (this.#bytes < 4) return 4;
    if ((this.#chunks[0]?.length ?? 0) < 4) this.#chunks = [Buffer.concat(this.#chunks)];
    return frameSize(this.#chunks[0] ?? Buffer.alloc(4));
  }
}

export function parseRequest(frame: Buffer): KafkaRequest {
  const clientId = Math.max(0, frame.readInt16BE(12));
  return {
    apiKey: frame.readInt16BE(4),
    version: frame.readInt16BE(6),
    correlationId: frame.readInt32BE(8),
    body: frame.subarray(14 + clientId),
    frame,
  };
}

/** The correlation id of a response. */
export function correlationIdOf(frame: Buffer): number {
  return frame.readInt32BE(4);
}

export function responseFrame(correlationId: number, body: Buffer): Buffer {
  return Buffer.concat([int32(4 + body.length), int32(correlationId), body]);
}

/** A broker's address in responses. */
export function addressBytes({ host, port }: { host: string; port: number }): Buffer {
  return Buffer.concat([text(host), int32(port)]);
}

/** Replaces each `from` by `to`, and adjusts the length of the frame. */
export function replaceInFrame(frame: Buffer, from: Buffer, to: Buffer): Buffer {
  const parts: Buffer[] = [];
  let rest = frame.subarray(4);
  for (let at = rest.indexOf(from); at >= 0; at = rest.indexOf(from)) {
    parts.push(rest.subarray(0, at), to);
    rest = rest.subarray(at + from.length);
  }
  const content = Buffer.concat([...parts, rest]);
  return Buffer.concat([int32(content.length), content]);
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int16(bytes.length), bytes]);
}

function frameSize(bytes: Buffer): number {
  return 4 + bytes.readInt32BE(0);
}
