import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toError } from '#kafka-batch';
import type { Logger } from './logger.js';
import { PROBLEM_TYPE, ProblemError, problemOf } from './problems.js';
import type { RoutePaths } from './refused-requests.js';

const RETRY_AFTER_SECONDS = 1;

/** Answers every failed request with a Problem. The details of an unexpected error are logged, not sent. */
@Catch()
export class ProblemsFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly paths: RoutePaths,
  ) {}

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
    const { method, url, id: requestId } = request;
    let problem = problemOf(error, request);
    const allowed = problem.code === 'NOT_FOUND' ? this.paths.methodsOf(url) : [];
    if (allowed.length > 0) {
      const detail = `${url} takes ${allowed.join(', ')}, not ${method}`;
      problem = problemOf(new ProblemError('METHOD_NOT_ALLOWED', detail), request);
      void reply.header('allow', allowed.join(', '));
    }
    if (problem.code === 'INTERNAL_SERVER_ERROR')
      this.logger.error(`${method} ${url} failed: ${error.message}`, { error, requestId });
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    if (problem.status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS);
    void reply
      .code(problem.status)
      .headers({ 'content-type': PROBLEM_TYPE, 'x-request-id': requestId })
      .send(JSON.stringify(problem));
  }
}
