import { applyDecorators, Get, HttpCode, Post } from '@nestjs/common';
import { RouteConfig, RouteSchema } from '@nestjs/platform-fastify';
import { QUERIES, type BODIES } from '../dto/request-schemas.js';
import type { Scope } from './tokens.js';

type Querystring = (typeof QUERIES)[keyof typeof QUERIES];
type Body = (typeof BODIES)[keyof typeof BODIES];

export type PlayerPath = Readonly<Record<'board' | 'player', string>>;

/**
 * The scope that the token of a request needs; `none`: the request needs no token. The start fails
 * if a route has no scope.
 */
export function RequireScope(scope: Scope | 'none') {
  return RouteConfig({ scope });
}

/** A read by GET, with what Fastify validates and OpenAPI describes. `answer` is a name of answer-schemas.ts. */
export function Read(path: string, answer: string, summary: string, querystring: Querystring) {
  const headers = { ...HEADERS, etag: { type: 'string', description: 'For `if-none-match`.' } };
  const answers = {
    200: { description: 'OK', headers, ...json(answer) },
    304: { description: 'The answer with this ETag is still right.', headers, type: 'null' },
  };
  return route(Get(path), 'standings', answers, { summary, querystring });
}

export function ReadByPost(path: string, answer: string, summary: string, body: Body) {
  const request = { summary, body, querystring: QUERIES.none };
  const method = applyDecorators(Post(path), HttpCode(200));
  return route(method, 'standings', { 200: answered('OK', json(answer)) }, request);
}

/** A stream of lines: objects of the schema `row`, or CSV. */
export function Download(path: string, row: string, summary: string, querystring: Querystring) {
  const csv = { 'text/csv': { schema: { type: 'string' } } };
  const content = { ...csv, ...json(row, 'application/x-ndjson').content };
  const description = 'Lines. A connection that is cut says that lines are missing.';
  const answers = { 200: answered(description, { content }) };
  return route(Get(path), 'standings', answers, { summary, querystring });
}

export function Events(path: string, summary: string, querystring: Querystring) {
  const content = { 'text/event-stream': { schema: { type: 'string' } } };
  const description = 'Events, until the client or the process ends the stream.';
  const answers = { 200: answered(description, { content }) };
  return route(Get(path), 'live', answers, { summary, querystring });
}

/** A write by POST: 202 once Kafka has the events, 200 with the outcome of one. */
export function Write(path: string, summary: string, body: Body, querystring: Querystring) {
  const answers = {
    200: answered('The outcome.', json('Outcome')),
    202: answered('Kafka has the events.', json('Accepted')),
  };
  return route(Post(path), 'writing', answers, { summary, body, querystring });
}

function route(method: MethodDecorator, tag: string, answers: object, request: object) {
  const response = { ...answers, ...PROBLEMS };
  return applyDecorators(method, RouteSchema({ ...request, tags: [tag], response }));
}

const HEADERS = { 'x-request-id': { type: 'string', description: 'For the log of the process.' } };

const json = (name: string, type = 'application/json') => ({
  content: { [type]: { schema: { $ref: `${name}#` } } },
});
const answered = (description: string, body: object) => ({
  description,
  headers: HEADERS,
  ...body,
});

const PROBLEM = json('Problem', 'application/problem+json');
const PROBLEMS = {
  401: answered('No token that the service knows.', PROBLEM),
  403: answered('The token lacks the scope.', PROBLEM),
  default: answered('Another problem.', PROBLEM),
};
