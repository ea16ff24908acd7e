import type { Socket } from 'node:net';

/** What all connections of a proxy do at the moment. */
export interface FlowTerms {
  readonly delayMs: number;
  readonly frozen: boolean;
}

/** What waits before its sender is asked to pause, as full buffers of a network would make it. */
const MOST_HELD_BYTES = 1_048_576;

/** One direction of a connection: bytes in order, held back or late as the terms say. */
export class ByteFlow {
  readonly #held: { readonly bytes: Buffer | 'end'; readonly due: number }[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly terms: FlowTerms,
  ) {
    to.on('drain', () => {
      this.#regulate();
    });
  }

  /** Bytes for the receiver, `lateMs` later than the terms say; what follows waits for them. */
  put(bytes: Buffer, lateMs = 0): void {
    this.#heldBytes += bytes.length;
    this.#hold(bytes, lateMs);
  }

  /** The sender is gone: the receiver's connection ends once it has got what was sent before. */
  end(): void {
    this.#hold('end', 0);
  }

  /** Delivers what is due; to be called after a thaw. */
  deliver(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    for (let next = this.#held[0]; next !== undefined && !this.terms.frozen; next = this.#held[0]) {
      if (next.due > now) {
        this.#timer = setTimeout(() => {
          this.deliver();
        }, next.due - now);
        break;
      }
      this.#held.shift();
      this.#hand(next.bytes);
    }
    this.#regulate();
  }

  #hold(bytes: Buffer | 'end', lateMs: number): void {
    this.#held.push({ bytes, due: performance.now() + this.terms.delayMs + lateMs });
    this.deliver();
  }

  #hand(bytes: Buffer | 'end'): void {
    if (bytes === 'end') {
      this.to.destroySoon();
      return;
    }
    this.#heldBytes -= bytes.length;
    if (this.to.writable) this.to.write(bytes);
  }

  #regulate(): void {
    if (this.#heldBytes > MOST_HELD_BYTES || this.to.writableNeedDrain) this.from.pause();
    else this.from.resume();
  }
}
