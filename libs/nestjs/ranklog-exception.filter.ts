import type { ServerResponse } from 'node:http';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import {
  BoardStoreError,
  MalformedViewError,
  NoInstanceError,
  NoSuchViewError,
} from '#board-store/reader';
import {
  InvalidPlayerRecordError,
  InvalidScoreEventError,
  KafkaUnreachableError,
  NotPublishedError,
  ResultUnknownError,
  SendError,
  TransactionFailedError,
} from '#client';
import {
  ProblemError,
  problemHeaders,
  problemWith,
  RefusedEventError,
  type ProblemCode,
} from '#problems';

type Caught = Error & { readonly code?: string };

/** The common parts of the replies of Express and Fastify. */
interface Reply {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
  /** The response of Node, in a reply of Fastify. */
  readonly raw?: ServerResponse;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * Answers the errors of BoardReader, ScoreProducer, ModerationProducer and LiveLeaders as ranklog's
 * own HTTP interface does: with problem details (RFC 9457). Works with Express and Fastify:
 *
 *     app.useGlobalFilters(new RanklogExceptionFilter())
 *
 * Nest handles all other errors, such as errors of the clients of Redis and Kafka. In microservices
 * and GraphQL, Nest handles all errors.
 */
@Catch(
  BoardStoreError,
  MalformedViewError,
  NoInstanceError,
  NoSuchViewError,
  InvalidPlayerRecordError,
  InvalidScoreEventError,
  KafkaUnreachableError,
  NotPublishedError,
  ResultUnknownError,
  SendError,
  TransactionFailedError,
)
export class RanklogExceptionFilter implements ExceptionFilter<Caught> {
  catch(error: Caught, host: ArgumentsHost): void {
    // A gateway would answer nothing: Nest treats every error that a filter catches as answered.
    if (host.getType() === 'ws') emitException(error, host);
    if (host.getType() === 'http') reply(host.switchToHttp().getResponse(), answerTo(error));
  }
}

/** Answers by the event that Nest's own filter of gateways sends. */
function emitException({ message }: Caught, host: ArgumentsHost): void {
  const client = host.switchToWs().getClient<{ emit(name: string, data: object): unknown }>();
  client.emit('exception', { status: 'error', message });
}

function answerTo(error: Caught): Answer {
  if (error instanceof ResultUnknownError && error.at.offset !== undefined) {
    // Kafka has the event: with an error, clients would send it again.
    const body = { events: [error.at], status: 'unknown' };
    return { status: 202, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
  }
  const known = problemErrorOf(error);
  const problem = problemWith(known.code as ProblemCode, known);
  return { status: problem.status, headers: problemHeaders(problem.status), body: problem };
}

/** An error with the code of a problem. */
function problemErrorOf(error: Caught): Caught {
  if (error instanceof InvalidScoreEventError)
    return new RefusedEventError(error.position?.index ?? 0, error);
  if (error instanceof InvalidPlayerRecordError)
    return new ProblemError('INVALID_REQUEST', error.message);
  if (error instanceof KafkaUnreachableError)
    return new ProblemError('LOG_UNAVAILABLE', error.message);
  if (error instanceof ResultUnknownError || error instanceof TransactionFailedError)
    return new ProblemError('SEND_FAILED', error.message);
  return error;
}

function reply(response: Reply, { status, headers, body }: Answer): void {
  const sent = response.raw ?? (response as unknown as ServerResponse);
  if (sent.headersSent) {
    sent.destroy(); // so that the client does not take what it has for the whole answer
    return;
  }
  response.status(status);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.send(JSON.stringify(body));
}
