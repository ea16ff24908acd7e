import { readFileSync } from 'node:fs';
import { Ajv, type Options, type SchemaObject } from 'ajv';
import { parseTime } from '#board/time';

export interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly required?: boolean;
  readonly style?: string;
  readonly schema: SchemaObject;
}
export interface Response {
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: SchemaObject }>>;
}
/** A method of a path, as docs/reference/openapi.json describes it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: SchemaObject | undefined;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: SchemaObject }> };
  readonly responses: Readonly<Record<string, Response>>;
}
interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const text = readFileSync('docs/reference/openapi.json', 'utf8');
const DOCUMENT = JSON.parse(text) as OpenApi;

/** A schema with those of the document in place of its references. */
function resolved(schema: unknown): SchemaObject {
  return JSON.parse(JSON.stringify(schema), (_, value: SchemaObject | null) => {
    const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(String(value?.['$ref'])) ?? [];
    return name === '' ? value : resolved(DOCUMENT.components.schemas[name]);
  }) as SchemaObject;
}

export const OPERATIONS: readonly Operation[] = Object.entries(DOCUMENT.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      ...{ method: method.toUpperCase() as Operation['method'], path, parameters, responses },
      body: requestBody && resolved(requestBody.content['application/json']?.schema),
    })),
);

/** The operations at the path of a URL, which has no query. */
export function operationsAt(path: string): Operation[] {
  const templates = new Set(OPERATIONS.map((operation) => operation.path));
  const fixed = (template: string) => template.replaceAll(/{\w+}/g, '').length;
  const [found] = [...templates]
    .filter((template) =>
      new RegExp(`^${template.replaceAll(/{\w+}/g, '[^/?#]*')}$`, 's').test(path),
    )
    .sort((a, b) => fixed(b) - fixed(a));
  return OPERATIONS.filter((operation) => operation.path === found);
}

export const AJV_OPTIONS: Options = {
  strict: false,
  formats: { 'date-time': (value: string) => parseTime(value) !== undefined },
};
const inAnswers = new Ajv(AJV_OPTIONS).addSchema(DOCUMENT, 'openapi');

/** What is wrong with the JSON body of an answer; undefined: nothing. */
export function bodyProblem(schema: SchemaObject, body: unknown): string | undefined {
  const $ref = `openapi${String(schema['$ref'])}`;
  return inAnswers.validate({ $ref }, body) ? undefined : inAnswers.errorsText();
}

/** The statuses of the problem codes in docs/reference/http.md. */
export const PROBLEM_STATUSES: ReadonlyMap<string, number> = new Map(
  [...readFileSync('docs/reference/http.md', 'utf8').matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)].map(
    ([, status, code = '']) => [code, Number(status)],
  ),
);
