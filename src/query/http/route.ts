import { applyDecorators, Delete, Get, HttpCode, Post, Put, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Accepted, Outcome, Problem, SentRecord } from '../dto/responses.js';
import type { Scope } from '../dto/token-entry.js';
import { inputsOf } from './require-dtos.js';

/** The scope that a token needs; `none`: no token. The start fails if a route has no scope. */
export function RequireScope(scope: Scope | 'none') {
  if (scope === 'none') return RouteConfig({ scope });
  return applyDecorators(RouteConfig({ scope }), ApiSecurity('bearer', [scope]));
}

/** A read by GET. `answer` is a class of dto/responses.ts. */
export function Read(path: string, answer: Type<object>, summary: string) {
  const headers = { ...HEADERS, etag: { ...TEXT, description: 'For `if-none-match`.' } };
  const unchanged = 'The answer with this ETag is still right.';
  return route(
    Get(path),
    'standings',
    summary,
    ApiResponse({ status: 200, description: 'OK', headers, type: answer }),
    ApiResponse({ status: 304, description: unchanged, headers }),
  );
}

export function ReadByPost(path: string, answer: Type<object>, summary: string) {
  return route(
    applyDecorators(Post(path), HttpCode(200)),
    'standings',
    summary,
    ApiResponse({ status: 200, description: 'OK', headers: HEADERS, type: answer }),
  );
}

/** A stream of lines: objects of the class `row`, or CSV. */
export function Download(path: string, row: Type<object>, summary: string) {
  const content = {
    'text/csv': { schema: TEXT.schema },
    ...contentOf(row, 'application/x-ndjson'),
  };
  const description = 'Lines. A connection that is cut says that lines are missing.';
  const answer = ApiResponse({ status: 200, description, headers: HEADERS, content });
  return route(Get(path), 'standings', summary, answer, ApiExtraModels(row));
}

export function Events(path: string, summary: string) {
  const content = { 'text/event-stream': { schema: TEXT.schema } };
  const description = 'Events, until the client or the process ends the stream.';
  const answer = ApiResponse({ status: 200, description, headers: HEADERS, content });
  return route(Get(path), 'live', summary, answer);
}

/** A write by POST: 202 once Kafka has the events, 200 with the outcome of one. */
export function Write(path: string, summary: string) {
  const accepted = 'Kafka has the events.';
  return route(
    Post(path),
    'writing',
    summary,
    ApiResponse({ status: 200, description: 'The outcome.', headers: HEADERS, type: Outcome }),
    ApiResponse({ status: 202, description: accepted, headers: HEADERS, type: Accepted }),
  );
}

export function WriteByPut(path: string, summary: string) {
  return playerRecord(Put(path), summary);
}

export function WriteByDelete(path: string, summary: string) {
  return playerRecord(Delete(path), summary);
}

/** A write of a player record: 202 once Kafka has it. */
function playerRecord(method: MethodDecorator, summary: string) {
  const description = 'Kafka has the record.';
  return route(
    applyDecorators(method, HttpCode(202)),
    'writing',
    summary,
    ApiResponse({ status: 202, description, headers: HEADERS, type: SentRecord }),
  );
}

type Decorator = ReturnType<typeof applyDecorators>;

function route(
  method: MethodDecorator,
  tag: string,
  summary: string,
  ...answers: (MethodDecorator | Decorator)[]
) {
  const described = [ApiTags(tag), ApiOperation({ summary }), ...PROBLEM_RESPONSES];
  return applyDecorators(requireQuery, method, ...described, ...answers);
}

/**
 * Requires a `@Query`, because Nest would ignore unknown parameters without one. TypeScript applies
 * decorators of parameters before this decorator.
 */
function requireQuery(prototype: object, method: string | symbol): void {
  const { constructor } = prototype;
  const hasQuery = inputsOf(constructor, method).some(({ input }) => input === '@Query');
  if (!hasQuery)
    throw new Error(
      `${constructor.name}.${String(method)} has no @Query; if it takes no parameters, give it ` +
        '@Query() _: NoQuery',
    );
}

const TEXT = { schema: { type: 'string' } } as const;
const HEADERS = { 'x-request-id': { ...TEXT, description: 'For the log of the process.' } };

function contentOf(dto: Type<object>, type: string) {
  return { [type]: { schema: { $ref: getSchemaPath(dto) } } };
}

const PROBLEM = {
  headers: HEADERS,
  content: contentOf(Problem, 'application/problem+json'),
};
const PROBLEM_RESPONSES = [
  ApiExtraModels(Problem),
  ApiResponse({ status: 401, description: 'No token that the service knows.', ...PROBLEM }),
  ApiResponse({ status: 403, description: 'The token lacks the scope.', ...PROBLEM }),
  ApiResponse({ status: 'default', description: 'Another problem.', ...PROBLEM }),
];
