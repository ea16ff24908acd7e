import { applyDecorators, Get, HttpCode, Post } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';
import type { BODIES, QUERIES } from './request-schemas.js';

type Querystring = (typeof QUERIES)[keyof typeof QUERIES];
type Body = (typeof BODIES)[keyof typeof BODIES];

/** A read by GET, with what Fastify validates and OpenAPI describes. `answer` is a name of answer-schemas.ts. */
export function Read(path: string, answer: string, summary: string, querystring: Querystring) {
  const schema = { ...readSchema(answer, summary), querystring };
  return applyDecorators(Get(path), RouteSchema(schema));
}

/** A read by POST. */
export function ReadByPost(path: string, answer: string, summary: string, body: Body) {
  const schema = { ...readSchema(answer, summary), body };
  return applyDecorators(Post(path), HttpCode(200), RouteSchema(schema));
}

/** A stream of server-sent events. */
export function Events(path: string, summary: string, querystring: Querystring) {
  const description = 'Events, until the client or the process ends the stream.';
  const content = { 'text/event-stream': { schema: { type: 'string' } } };
  const response = { 200: { description, content }, default: PROBLEM };
  const schema = { summary, querystring, tags: ['live'], response };
  return applyDecorators(Get(path), RouteSchema(schema));
}

/** A write by POST: 202 once Kafka has the events, 200 with the outcome of one. */
export function Write(path: string, summary: string, body: Body, querystring: Querystring) {
  const response = {
    200: { description: 'The outcome.', ...json('application/json', 'Outcome') },
    202: { description: 'Kafka has the events.', ...json('application/json', 'Accepted') },
    default: PROBLEM,
  };
  const schema = { summary, body, querystring, tags: ['writing'], response };
  return applyDecorators(Post(path), RouteSchema(schema));
}

function readSchema(answer: string, summary: string) {
  const response = {
    200: { description: 'OK', ...json('application/json', answer) },
    304: { description: 'The answer with this ETag is still right.', type: 'null' },
    default: PROBLEM,
  };
  return { summary, tags: ['standings'], response };
}

const json = (type: string, name: string) => ({
  content: { [type]: { schema: { $ref: `${name}#` } } },
});

const PROBLEM = { description: 'A problem.', ...json('application/problem+json', 'Problem') };
