import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { GATHERED, isGathered } from '../dto/fields.js';

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type ParameterObject = Extract<NonNullable<OperationObject['parameters']>[number], { in: string }>;

const require = createRequire(import.meta.url);
const { version } = require('#package') as { version: string };
const SCHEMAS = path.join(path.dirname(require.resolve('#package')), 'schemas');

/**
 * Serves the description of the routes as /openapi.json and /docs, and the JSON Schemas of the
 * records below /schemas. The first request creates the description.
 */
export function describeRoutes(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  let created: OpenAPIObject | undefined;
  const document = () => (created ??= documentOf(app));
  const config = { scope: 'none' } as const;
  server.get('/openapi.json', { config }, document);
  server.get('/docs', { config }, (_, reply) =>
    reply.type('text/html; charset=utf-8').send(docsPage(document())),
  );
  for (const file of readdirSync(SCHEMAS))
    server.get(`/schemas/${file}`, { config }, async (_, reply) =>
      reply.type('application/schema+json').send(await readFile(path.join(SCHEMAS, file))),
    );
}

function documentOf(app: NestFastifyApplication): OpenAPIObject {
  const info = { title: 'ranklog', version, description: 'Leaderboards from a Kafka log.' };
  const components = { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } as const } };
  const config = { openapi: '3.1.0', info, components };
  const operationIdFactory = () => undefined as never; // names of our methods are not for clients
  const options = { autoTagControllers: false, operationIdFactory };
  return completed(SwaggerModule.createDocument(app, config, options));
}

/**
 * Adds two facts that the decorators can't express: requests and answers have no other fields, and
 * how maps are written in a URL.
 */
function completed(document: OpenAPIObject): OpenAPIObject {
  for (const schema of Object.values(document.components?.schemas ?? {}))
    if ('properties' in schema) schema.additionalProperties ??= false;
  for (const item of Object.values(document.paths))
    for (const parameter of item.get?.parameters ?? [])
      if ('name' in parameter && isGathered(parameter.name))
        describeMap(parameter, GATHERED[parameter.name]);
  return document;
}

/** Describes a map as an exploded object: in a URL, each of its names is a parameter. */
function describeMap(parameter: ParameterObject, prefix: string): void {
  const names = `^${prefix.replace('.', '\\.')}`;
  const patternProperties = { [names]: { type: 'string' } };
  const schema = { type: 'object', patternProperties, additionalProperties: false };
  Object.assign(parameter, { style: 'form', explode: true, schema });
}

/** A plain page of all operations with their parameters and answers, from the OpenAPI document. */
function docsPage({ info, paths, components }: OpenAPIObject): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'delete'] as const).map((method) =>
      operation(`${method.toUpperCase()} ${path}`, item[method]),
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

function operation(name: string, found: OperationObject | undefined): string {
  if (found === undefined) return '';
  const { summary = '', parameters = [], requestBody, responses } = found;
  const items = parameters.map((parameter) =>
    'name' in parameter
      ? `<li><code>${escape(parameter.name)}</code> (${parameter.in}) ` +
        `${escape(parameter.description ?? '')}</li>`
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
