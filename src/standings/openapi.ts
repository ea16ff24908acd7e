import swagger from '@fastify/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { createRequire } from 'node:module';
import { ANSWERS } from './answer-schemas.js';
import { docsPage } from './docs-page.js';

const { version } = createRequire(import.meta.url)('#package') as { version: string };

/** Describes the routes that the application gets later, and serves the description as /openapi.json and /docs. */
export async function describeRoutes(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpAdapter().getInstance();
  for (const answer of ANSWERS) server.addSchema(answer);
  await app.register(swagger as never, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'ranklog', version, description: 'Leaderboards from a Kafka log.' },
    },
    hideUntagged: true,
    refResolver: { buildLocalReference: (json: { $id?: unknown }) => String(json.$id) },
    transformObject: ({ openapiObject }: { openapiObject: OpenAPIV3_1.Document }) =>
      withDimensions(openapiObject),
  });
  const document = () => server.swagger() as OpenAPIV3_1.Document;
  server.get('/openapi.json', document);
  server.get('/docs', (_, reply) =>
    reply.type('text/html; charset=utf-8').send(docsPage(document())),
  );
}

/** Adds the parameters for dimensions, which each board names in its own way, to the reads of one view. */
function withDimensions(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  for (const path of Object.values(document.paths ?? {}))
    for (const { parameters = [] } of [path?.get, path?.post].filter((one) => one !== undefined))
      if (parameters.some((parameter) => 'name' in parameter && parameter.name === 'window'))
        parameters.push(DIMENSIONS);
  return document;
}

const DIMENSIONS: OpenAPIV3_1.ParameterObject = {
  in: 'query',
  name: 'dimensions',
  description: 'A value for each dimension, by its name: `region=eu`.',
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
};
