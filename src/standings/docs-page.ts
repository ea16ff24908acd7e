import type { OpenAPIV3_1 } from 'openapi-types';

/** A plain page of all operations with their parameters and answers, from the OpenAPI document. */
export function docsPage({ info, paths, components }: OpenAPIV3_1.Document): string {
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
