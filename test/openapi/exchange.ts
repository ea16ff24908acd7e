import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createGunzip, createInflate } from 'node:zlib';

export interface RawRequest {
  /**
   * Whether it is sent on a connection of its own, as its text may leave the server in doubt about
   * where it ends.
   */
  readonly isAlone?: boolean;
  readonly method: string;
  /** The path and query, as they are sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Without its compression; empty for a stream of events, which is not read. */
  readonly body: string;
}

const TIMEOUT_MS = 45_000;
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
]);
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request as it is: unlike `fetch`, corrects neither its URL nor its headers.
 * @throws without an answer
 */
export function exchange(
  origin: string,
  { method, url, headers, body, isAlone = false }: RawRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const options = { agent: isAlone ? false : agent, timeout: TIMEOUT_MS };
    const isFramed = body === undefined || headers['transfer-encoding'] !== undefined;
    const all = isFramed ? headers : { 'content-length': String(body.length), ...headers };
    const sent = request({ hostname, port, path: url, ...options, method, headers: all });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${TIMEOUT_MS} ms`)));
    sent.on('response', (response) => {
      resolve(answerOf(method, response));
    });
    sent.end(body);
  });
}

async function answerOf(method: string, response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  if (headers['content-type']?.startsWith('text/event-stream') === true) {
    response.destroy();
    return { status, headers, body: '' };
  }
  if (method === 'HEAD') {
    response.resume();
    return { status, headers, body: '' };
  }
  const decoder = DECODERS.get(headers['content-encoding'] ?? '');
  return { status, headers, body: await text(decoder ? response.pipe(decoder()) : response) };
}
