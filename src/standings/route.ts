import { applyDecorators, Get, HttpCode, Post } from '@nestjs/common';
import { RouteSchema } from '@nestjs/platform-fastify';
import type { BODIES, QUERIES } from './request-schemas.js';

interface Route {
  readonly summary: string;
  /** The name of the answer in answer-schemas.ts. */
  readonly answer: string;
  readonly querystring?: (typeof QUERIES)[keyof typeof QUERIES];
  readonly body?: (typeof BODIES)[keyof typeof BODIES];
}

/** A read by GET, or by POST if it has a body, with what Fastify validates and OpenAPI describes. */
export function Read(path: string, { answer, summary, body, querystring }: Route) {
  const schema = {
    ...{ summary, tags: ['standings'] },
    ...(querystring && { querystring }),
    ...(body && { body }),
    response: {
      200: { description: 'OK', ...json('application/json', answer) },
      304: { description: 'The answer with this ETag is still right.', type: 'null' },
      default: { description: 'A problem.', ...json('application/problem+json', 'Problem') },
    },
  };
  const method = body === undefined ? [Get(path)] : [Post(path), HttpCode(200)];
  return applyDecorators(...method, RouteSchema(schema));
}

/** A stream of server-sent events. */
export function Events(
  path: string,
  { summary, querystring }: Pick<Required<Route>, 'summary' | 'querystring'>,
) {
  const schema = {
    ...{ summary, querystring, tags: ['live'] },
    response: {
      200: {
        description: 'Events, until the client or the process ends the stream.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      default: { description: 'A problem.', ...json('application/problem+json', 'Problem') },
    },
  };
  return applyDecorators(Get(path), RouteSchema(schema));
}

const json = (type: string, name: string) => ({
  content: { [type]: { schema: { $ref: `${name}#` } } },
});
