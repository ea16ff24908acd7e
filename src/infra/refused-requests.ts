import { randomUUID } from 'node:crypto';
import { METHODS, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { PROBLEM_TYPE, ProblemError, problemOf, type ProblemCode } from './problems.js';

/** Knows the methods of each path, for answers to requests with another one. */
export class RoutePaths {
  readonly #router: ReturnType<typeof findMyWay>;

  constructor(maxParamLength: number) {
    this.#router = findMyWay({ maxParamLength });
  }

  add({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    this.#router.on(method as HTTPMethod, url, () => undefined);
  }

  methodsOf(url: string): string[] {
    const [path = ''] = url.split('?');
    return METHODS.filter((method) => this.#router.find(method as HTTPMethod, path) !== null);
  }
}

const CODES: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** Answers what Node can't parse as a request, or does not get in time, and closes the connection. */
export function answerMalformed({ code = '', message }: NodeJS.ErrnoException, socket: Socket) {
  if (code === 'ECONNRESET' || !socket.writable) return;
  const error = new ProblemError(CODES[code] ?? 'BAD_REQUEST', message);
  const problem = problemOf(error, { method: '', url: '' });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `content-type: ${PROBLEM_TYPE}`,
    `x-request-id: ${randomUUID()}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
