import { HttpException } from '@nestjs/common';
import { firstValueFrom, from, timeout } from 'rxjs';
import { BoardStoreError } from '#board-store';
import { toError } from '#errors';
import { ProblemError, PROBLEMS, problemWith, type ProblemCode } from '#problems';
import { isRedisUnavailable } from '../../infra/redis.js';

/** How long a client waits for Kafka before it gets a problem, in ms. */
const WAIT_MS = 5_000;

/**
 * Waits for work with Kafka.
 * @throws ProblemError LOG_UNAVAILABLE if it fails or takes more than 5 s, and errors of the stores
 */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  try {
    return await firstValueFrom(from(work).pipe(timeout(WAIT_MS)));
  } catch (error) {
    if (error instanceof BoardStoreError) throw error;
    const detail = `Kafka does not answer (${toError(error).message}); try again`;
    throw new ProblemError('LOG_UNAVAILABLE', detail);
  }
}

type RequestLine = Readonly<Record<'method' | 'url', string>>;

/** The body of the answer to a failed request (RFC 9457). Hides details of unexpected errors. */
export function problemOf(error: Error, request: RequestLine) {
  const code = codeOf(error);
  return problemWith(code, error, detailOf(error, code, request));
}

function codeOf(error: Error): ProblemCode {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code === 'string' && Object.hasOwn(PROBLEMS, code)) return code as ProblemCode;
  if (isRedisUnavailable(error)) return 'STORE_UNAVAILABLE';

  const status = error instanceof HttpException ? error.getStatus() : statusCode;
  if (typeof status !== 'number' || status < 400 || status >= 500) return 'INTERNAL_SERVER_ERROR';
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  return codes.find((known) => PROBLEMS[known][0] === status) ?? 'BAD_REQUEST';
}

function detailOf(error: Error, code: ProblemCode, { method, url }: RequestLine): string {
  if (code === 'INTERNAL_SERVER_ERROR')
    return 'internal error; the log of the process has the details';
  if (code === 'STORE_UNAVAILABLE') return `Redis does not answer (${error.message}); try again`;
  if (code === 'UNSUPPORTED_MEDIA_TYPE') return 'send the body as application/json';
  if (code === 'NOT_FOUND') return `there is nothing at ${method} ${url}`;
  return error.message;
}
