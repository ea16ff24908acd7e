import { randomUUID } from 'node:crypto';
import { METHODS, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { toError } from '#errors';
import { PROBLEM_TYPE, ProblemError, problemHeaders, type ProblemCode } from '#problems';
import type { Logger } from '../../infra/logger.js';
import { problemOf } from './problems.js';

/** Answers failed requests with a Problem. Only logs the details of unexpected errors. */
@Catch()
export class ProblemsFilter implements ExceptionFilter {
  /** The allowed methods of each path, for 405 answers. */
  readonly #routes: ReturnType<typeof findMyWay>;

  constructor(
    private readonly logger: Logger,
    maxParamLength: number,
  ) {
    this.#routes = findMyWay({ maxParamLength });
  }

  addRoute({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    this.#routes.on(method as HTTPMethod, url, () => undefined);
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const [request, reply] = host.getArgs<[FastifyRequest, FastifyReply]>();
    this.answer(toError(error), request, reply);
  }

  /** Fastify calls this directly to refuse requests before routing, such as malformed URLs. */
  answer(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const { method, url, id: requestId } = request;
    let problem = problemOf(error, request);
    const isUnrouted = problem.code === 'NOT_FOUND';
    const allowed = isUnrouted ? this.#methodsOf(url) : [];

    if (allowed.length > 0) {
      const detail = `${url} takes ${allowed.join(', ')}, not ${method}`;
      problem = problemOf(new ProblemError('METHOD_NOT_ALLOWED', detail), request);
      void reply.header('allow', allowed.join(', '));
    }
    if (isUnrouted && lacksWrites(request, allowed))
      problem.detail += '; writes need RANKLOG_QUERY_WRITES=true';

    if (problem.code === 'INTERNAL_SERVER_ERROR')
      this.logger.error(`${method} ${url} failed: ${error.message}`, { error, requestId });
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    void reply
      .code(problem.status)
      .headers({ ...problemHeaders(problem.status), 'x-request-id': requestId })
      .send(JSON.stringify(problem));
  }

  #methodsOf(url: string): string[] {
    const [path = ''] = url.split('?');
    return METHODS.filter((method) => this.#routes.find(method as HTTPMethod, path) !== null);
  }
}

/** The paths of the controllers that exist only with the setting `queryWrites`. */
const WRITE_PATH = /^\/v1\/boards\/[^/?]+\/(events|(bans|erasures)\/[^/?]+)(\?|$)/;
const WRITE_METHODS = ['POST', 'PUT', 'DELETE'];

/** Whether a write has no route because this process takes no writes. */
function lacksWrites({ method, url }: FastifyRequest, allowed: readonly string[]): boolean {
  const isWrite = WRITE_METHODS.includes(method) && WRITE_PATH.test(url);
  const takesWrites = allowed.some((name) => WRITE_METHODS.includes(name));
  return isWrite && !takesWrites;
}

const CODES: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** Answers a request that is malformed or does not arrive in time, and closes the connection. */
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
