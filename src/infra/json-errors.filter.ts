import {
  Catch,
  HttpException,
  HttpStatus,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toError } from '#kafka-batch';
import type { Logger } from './logger.js';

/** The body of every failed response: a code for programs, a sentence for people. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
}

/** Answers every failed request with an ErrorBody. The details of an unexpected error are logged, not sent. */
@Catch()
export class JsonErrorsFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(
      toError(error),
      http.getRequest<FastifyRequest>(),
      http.getResponse<FastifyReply>(),
    );
  }

  /** Fastify calls this directly for requests that it refuses before routing, such as those with malformed URLs. */
  answer(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    const status = statusOf(error);
    const isUnexpected = status >= 500 && !(error instanceof HttpException);
    if (isUnexpected)
      this.logger.error(`${request.method} ${request.url} failed: ${error.message}`, { error });
    void reply
      .code(status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(bodyOf(error, status, request));
  }
}

function statusOf(error: Error): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode = HttpStatus.INTERNAL_SERVER_ERROR } = error as { statusCode?: number };
  return statusCode;
}

function bodyOf(error: Error, status: number, { method, url }: FastifyRequest): ErrorBody {
  const body = error instanceof HttpException ? error.getResponse() : undefined;
  if (typeof body === 'object' && 'code' in body) return body as ErrorBody;
  const code = HttpStatus[status] ?? 'ERROR';
  if (status === (HttpStatus.NOT_FOUND as number))
    return { code, message: `there is nothing at ${method} ${url}` };
  if (status >= 500)
    return { code, message: 'internal error; the log of the process has the details' };
  return { code, message: error.message };
}
