import type { Socket } from 'node:net';

/** The current faults of all connections of a proxy. */
export interface FlowTerms {
  readonly delayMs: number;
  readonly frozen: boolean;
}

/** Held bytes above which the sender is paused, like full network buffers. */
const MAX_HELD_BYTES = 1_048_576;

/**
 * One direction of a connection: delivers bytes in order, held or delayed according to the terms.
 */
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

  /** Sends bytes `lateMs` later than the terms say; later bytes wait for them. */
  put(bytes: Buffer, lateMs = 0): void {
    this.#heldBytes += bytes.length;
    this.#hold(bytes, lateMs);
  }

  /** The sender has closed: closes the receiver's connection after the sent bytes. */
  end(): void {
    this.#hold('end', 0);
  }

  /** Delivers the bytes that are due. Call it after a thaw. */
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
    if (this.#heldBytes > MAX_HELD_BYTES || this.to.writableNeedDrain) this.from.pause();
    else this.from.resume();
  }
}
