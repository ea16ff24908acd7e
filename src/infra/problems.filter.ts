import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toError } from '#kafka-batch';
import type { Logger } from './logger.js';
import { PROBLEM_TYPE, problemOf } from './problems.js';

const RETRY_AFTER_SECONDS = 1;

/** Answers every failed request with a Problem. The details of an unexpected error are logged, not sent. */
@Catch()
export class ProblemsFilter implements ExceptionFilter {
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
    const problem = problemOf(error, request);
    const { method, url, id: requestId } = request;
    if (problem.code === 'INTERNAL_SERVER_ERROR')
      this.logger.error(`${method} ${url} failed: ${error.message}`, { error, requestId });
    if (problem.status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS);
    void reply
      .code(problem.status)
      .headers({ 'content-type': PROBLEM_TYPE, 'x-request-id': requestId })
      .send(JSON.stringify(problem));
  }
}
