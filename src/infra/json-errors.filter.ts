import {
  Catch,
  HttpException,
  HttpStatus,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from './logger.js';
import type { ErrorBody } from './api-error.js';

/** Answers every failed request with an ErrorBody. An error that nobody has thought of is logged, not shown. */
@Catch()
export class JsonErrorsFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also for what Fastify refuses before it knows a route: malformed addresses. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const status = statusOf(error);
    if (status >= (HttpStatus.INTERNAL_SERVER_ERROR as number) && !(error instanceof HttpException))
      this.log.error(`${request.method} ${request.url} failed: ${wordsOf(error)}`, { error });
    void reply
      .code(status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(bodyOf(error, status, request));
  }
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : HttpStatus.INTERNAL_SERVER_ERROR;
}

function bodyOf(error: unknown, status: number, { method, url }: FastifyRequest): ErrorBody {
  const own = error instanceof HttpException ? error.getResponse() : undefined;
  if (typeof own === 'object' && 'code' in own) return own as ErrorBody;
  const code = HttpStatus[status] ?? 'ERROR';
  if (status === (HttpStatus.NOT_FOUND as number))
    return { code, message: `there is nothing at ${method} ${url}` };
  if (status >= (HttpStatus.INTERNAL_SERVER_ERROR as number))
    return { code, message: 'something went wrong here; the log of the process says what' };
  return { code, message: wordsOf(error) };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
