import { createRequire } from 'node:module';
import swagger, { type SwaggerTransform } from '@fastify/swagger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { ANSWERS } from '../dto/answer-schemas.js';
import { GATHERED, isGathered } from './query-string.js';

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
    transform: withScope,
    transformObject: ({ openapiObject }: { openapiObject: OpenAPIV3_1.Document }) =>
      completed(openapiObject),
  });
  const document = () => server.swagger() as OpenAPIV3_1.Document;
  const config = { scope: 'none' } as const;
  server.get('/openapi.json', { config }, document);
  server.get('/docs', { config }, (_, reply) =>
    reply.type('text/html; charset=utf-8').send(docsPage(document())),
  );
}

const withScope: SwaggerTransform = ({ schema, url, route: { config } }) => {
  const security = [{ bearer: [config?.scope ?? 'none'] }];
  return { schema: { ...schema, security }, url };
};

/** Describes the parameters that parseQuery gathers as they stand in a URL. */
function completed(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  for (const item of Object.values(document.paths ?? {}))
    for (const method of ['get', 'post'] as const) {
      const operation = item?.[method];
      for (const parameter of operation?.parameters ?? [])
        if ('name' in parameter && isGathered(parameter.name))
          describe(parameter, GATHERED[parameter.name]);
    }
  return document;
}

/** An exploded object stands in a URL as one parameter for each of its names. */
function describe(parameter: OpenAPIV3_1.ParameterObject, prefix: string): void {
  const names = `^${prefix.replace('.', '\\.')}`;
  const patternProperties = { [names]: { type: 'string' } };
  const schema = { type: 'object', patternProperties, additionalProperties: false };
  Object.assign(parameter, { style: 'form', explode: true, schema });
}

/** A plain page of all operations with their parameters and answers, from the OpenAPI document. */
function docsPage({ info, paths, components }: OpenAPIV3_1.Document): string {
  const operations = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    (['get', 'post'] as const).map((method) =>
      operation(`${method.toUpperCase()} ${path}`, item?.[method]),
    ),
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) => `<details id="${name}"><summary>${name}</summary>${json(schema)}</details>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(info.title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{overflow:auto}</style>
<h1>${escape(info.title)} ${escape(info.version)}</h1>
<p>${escape(info.description ?? '')} For programs: <a href="openapi.json">openapi.json</a>.</p>
<h2>Requests</h2>${operations.join('\n')}
<h2>Bodies of answers</h2>${schemas.join('\n')}</html>`;
}

function operation(name: string, found: OpenAPIV3_1.OperationObject | undefined): string {
  if (found === undefined) return '';
  const { summary = '', parameters = [], requestBody, responses = {} } = found;
  const items = parameters.map((parameter) =>
    'name' in parameter
      ? `<li><code>${escape(parameter.name)}</code> (${parameter.in}) ${escape(parameter.description ?? '')}</li>`
      : '',
  );
  const body = requestBody === undefined ? '' : `<p>Body</p>${json(requestBody)}`;
  const head = `<code>${escape(name)}</code>: ${escape(summary)}`;
  return `<details><summary>${head}</summary><ul>${items.join('')}</ul>${body}<p>Answers</p>${json(responses)}</details>`;
}

function json(value: object): string {
  const text = escape(JSON.stringify(value, null, 2));
  return `<pre>${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#$1">$&</a>')}</pre>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
