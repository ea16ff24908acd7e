import swagger from '@fastify/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { createRequire } from 'node:module';
import { scopeOf } from '../infra/tokens.js';
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
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    hideUntagged: true,
    refResolver: { buildLocalReference: (json: { $id?: unknown }) => String(json.$id) },
    transformObject: ({ openapiObject }: { openapiObject: OpenAPIV3_1.Document }) =>
      completed(openapiObject),
  });
  const document = () => server.swagger() as OpenAPIV3_1.Document;
  server.get('/openapi.json', document);
  server.get('/docs', (_, reply) =>
    reply.type('text/html; charset=utf-8').send(docsPage(document())),
  );
}

/** Adds the scope to each operation; to the reads of one view, the dimensions, which each board names in its own way. */
function completed(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const method of ['get', 'post'] as const) {
      const operation = item?.[method];
      const isRead = operation?.parameters?.some((one) => 'name' in one && one.name === 'window');
      if (isRead) operation?.parameters?.push(DIMENSIONS);
      if (operation) operation.security = [{ bearer: [scopeOf(method.toUpperCase(), path) ?? ''] }];
    }
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
