import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * A client is dropped if more than 1 MiB of its events stays unsent for 5 s, or more than 32 MiB at
 * once. The kernel buffers a few MiB before that. A client that resumes gets up to 16 MiB at once.
 */
const SLOW_BYTES = 1_048_576;
const SLOW_MS = 5_000;
const MOST_BYTES = 32 * SLOW_BYTES;

/** The text of an event. `data` is one line. */
export function eventText(type: string, id: string, data: string): string {
  return `event: ${type}\nid: ${id}\ndata: ${data}\n\n`;
}

/** A response of server-sent events. Bypasses Fastify, to encode events once for many clients. */
export class EventStream {
  /** Since when more than SLOW_BYTES are unsent. */
  #slowSince = Infinity;

  private constructor(private readonly raw: ServerResponse) {}

  /**
   * Sends the headers. Later calls `onClose` once, even if the client has already left. `onClose`
   * follows the connection, because a response that waits behind another response of its connection
   * never closes. The connection ends with the stream.
   */
  static open(reply: FastifyReply, onClose: () => void): EventStream {
    const { raw } = reply.hijack();
    finished(raw.req.socket, onClose);
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no', // nginx
      connection: 'close',
    });
    raw.flushHeaders();
    if (raw.req.method === 'HEAD') raw.end();
    return new EventStream(raw);
  }

  /** Sends events. Drops a client that does not read them. */
  send(events: string | Buffer): void {
    const unsent = this.raw.writableLength;
    const now = performance.now();
    this.#slowSince = unsent > SLOW_BYTES ? Math.min(this.#slowSince, now) : Infinity;
    if (unsent > MOST_BYTES || now - this.#slowSince > SLOW_MS) this.raw.req.socket.destroy();
    else if (!this.raw.writableEnded) this.raw.write(events);
  }

  /** Keeps the connection alive. Its id lets a client resume after a long time without events. */
  heartbeat(id: string): void {
    this.send(`:\nid: ${id}\n\n`);
  }

  end(): void {
    this.raw.end();
  }
}
