import type { SchemaObject } from 'ajv';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { OPERATIONS, type Operation } from './document.js';
import type { RawRequest } from './exchange.js';
import { hostileText, valueOf, type Known } from './values.js';

/** A request to an operation, before it becomes text. */
export interface PlannedRequest {
  readonly operation: Operation;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body?: unknown;
}
export interface TestRequest extends RawRequest {
  /** Missing if the text of the request was changed afterwards. */
  readonly planned?: PlannedRequest;
}

const valueOfDimension = fc.oneof(fc.constantFrom('eu', 'low', '1', '2'), hostileText);

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function pathOf(operation: Operation, known: Known): fc.Arbitrary<string> {
  const names = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const values = names.map((name) =>
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...(known[name] as string[])) }, hostileText),
  );
  return fc
    .tuple(...values)
    .map((parts) =>
      names.reduce(
        (path, name, at) => path.replace(`{${name}}`, () => encodeURIComponent(parts[at] ?? '')),
        operation.path,
      ),
    );
}

/** Values of the documented parameters, mostly few; at times repeated ones, and unknown ones. */
function queryOf({ parameters }: Operation, known: Known): fc.Arbitrary<[string, string][]> {
  const own = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema, required, style }) => {
      const given =
        style === 'form'
          ? fc
              .tuple(fc.constantFrom(...namesLike(schema, known)), valueOfDimension)
              .map((one) => [one])
          : valueOf(schema, name, known).map((value) =>
              textsOf(schema, value).map((text): [string, string] => [name, text]),
            );
      const isThere = fc.integer({ min: 0, max: 19 }).map((n) => (required ? n > 0 : n < 4));
      return fc.tuple(isThere, given).map(([is, all]) => (is ? all : []));
    });
  const extra = fc.array(fc.tuple(fc.oneof(foreignName, hostileText), hostileText), {
    maxLength: 2,
  });
  const extras = fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, extra);
  const repeats = fc.integer({ min: 0, max: 19 }).map((n) => n === 0);
  return fc
    .tuple(fc.tuple(...own), extras, repeats)
    .map(([pairs, more, repeat]) => [...pairs.flat(), ...more, ...(repeat ? pairs.flat() : [])]);
}

/** A parameter stands in a URL once for each value of a list. */
function textsOf({ type }: SchemaObject, value: unknown): string[] {
  return type === 'array' && Array.isArray(value) ? value.slice(0, 5).map(textOf) : [textOf(value)];
}

function namesLike({ patternProperties }: SchemaObject, known: Known): string[] {
  const [pattern = ''] = Object.keys(patternProperties as object);
  return (known['patternNames'] as string[]).filter((name) => new RegExp(pattern).test(name));
}

// prettier-ignore
const foreignName = fc.constantFrom(
  '__proto__', 'where.__proto__', 'score.__proto__', 'constructor', 'where.', 'score.', 'where.toString', 'limit[]', 'Limit', 'page',
);

/** A request that is right as HTTP; its values may be wrong. */
export function plannedArbitrary(operation: Operation, known: Known): fc.Arbitrary<TestRequest> {
  const { method, body: schema } = operation;
  const event = fc.constantFrom(...(known['events'] ?? []));
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          valueOf(schema, 'body', known),
          ...(operation.path.endsWith('/events') ? [event] : []),
        );
  return fc
    .record({ path: pathOf(operation, known), query: queryOf(operation, known), body })
    .map(({ path, query, body }) => {
      const text = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      const json = { 'content-type': 'application/json' };
      return {
        ...{ method, url: text === '' ? path : `${path}?${text}` },
        headers: schema === undefined ? {} : json,
        ...(schema !== undefined && { body: Buffer.from(JSON.stringify(body ?? null)) }),
        planned: { operation, query, body },
      };
    });
}

const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND SEARCH QUERY'.split(' ');

// prettier-ignore
const URL_PARTS = [
  '%', '%zz', '%c3%28', '%ff', '%00', '%2F', '%2e%2e', '/', '//', '/.', '/..', '?', '#', ';', '&&', '=', '?a', '+', '\u00e9', '\u00ff',
  '%ed%a0%80', '%252F', ':batch', '?__proto__=x', '?__proto__[x]=y', '?limit[]=1', '?limit=1;from=2', '?where.__proto__=x',
  '?score.constructor=1', `?${'a'.repeat(20_000)}`, '?' + 'a=b&'.repeat(1_500), '\\', '"', '|', '^', '`', '{}', '[',
];

// prettier-ignore
const TYPES = [
  '', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;', 'application/json; charset=utf-16', 'json', '*/*',
  'application/json, text/plain', 'application/jsonx', 'application/problem+json', 'text/plain', 'text/plain; charset=utf-8',
  'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/octet-stream', '__proto__',
];

// prettier-ignore
const HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'text/html'], ['accept', 'nonsense'], ['accept-encoding', 'gzip'], ['accept-encoding', 'deflate'],
  ['accept-encoding', 'br;q=1, *;q=0'], ['accept-encoding', 'identity;q=0'], ['if-none-match', '*'], ['if-none-match', 'W/"'],
  ['if-modified-since', 'never'], ['range', 'bytes=0-1'], ['x-request-id', 'a-1'], ['x-request-id', 'é\u0001'.slice(0, 1)],
  ['x-request-id', 'x'.repeat(129)], ['last-event-id', 'nonsense'], ['last-event-id', '-1'], ['last-event-id', '0:99999999999999999999'],
  ['origin', 'null'], ['expect', 'nonsense'], ['upgrade', 'websocket'], ['connection', 'upgrade'], ['host', ''], ['cookie', '=;;='],
  ['content-encoding', 'gzip'], ['content-encoding', 'br'], ['content-encoding', 'nonsense'], ['transfer-encoding', 'chunked'],
['x-http-method-override', 'DELETE'], ['big', 'x'.repeat(17_000)],
];

const MIB = 1_048_576;
/** Bodies that are no JSON, or no good one. */
// prettier-ignore
const BODIES: readonly (readonly [string, Buffer])[] = [
  '', ' ', '{', '{}}', '[]', 'null', '1', '"a"', 'NaN', '{"a":1,}', "{'a':1}", '\uFEFF{}', '{"events":null}', '{"playerIds":"a"}',
  '{"playerIds":["\\ud800"]}', '{"requests":[{"board":"\\ud800"}]}', '{"playerId":"\\ud800","delta":1}', '{"playerId":"a","delta":1e999}',
  '{"__proto__":{"playerIds":["a"]}}', '{"constructor":{"prototype":{"a":1}}}', '{"playerIds":["a"],"playerIds":["b"]}',
  '{"playerIds":["a"],"where":{"constructor":"a"}}', '{"playerId":"a","delta":1,"attributes":{"toString":"a"}}', 'playerId=a&delta=1',
  '['.repeat(100_000), `{"playerId":"a","delta":1,"x":${'['.repeat(200)}${']'.repeat(200)}}`, JSON.stringify('x'.repeat(MIB)),
  JSON.stringify({ playerIds: ['x'.repeat(MIB - 100)] }),
].map((text) => [text.slice(0, 60), Buffer.from(text)] as const).concat([
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ['invalid UTF-8 in a text', Buffer.concat([Buffer.from('{"playerIds":["'), Buffer.from([0xff, 0xc3]), Buffer.from('"]}')])],
  ['UTF-16', Buffer.from('{"playerIds":["a"]}', 'utf16le')],
  ['gzip', gzipSync('{"playerIds":["a"]}')],
  ['a small gzip of 20 MiB', gzipSync(JSON.stringify({ playerIds: ['x'.repeat(20 * MIB)] }))],
]);

type Change = Partial<Pick<RawRequest, 'method' | 'headers' | 'body'>> & { readonly url?: string };

const changeArbitrary: fc.Arbitrary<Change> = fc.oneof(
  fc.constantFrom(...METHODS).map((method) => ({ method })),
  fc.constantFrom(...URL_PARTS).map((url) => ({ url })),
  fc.constantFrom(...TYPES).map((type) => ({ headers: { 'content-type': type } })),
  fc.constantFrom(...HEADERS).map(([name, value]) => ({ headers: { [name]: value } })),
  fc.constantFrom(...BODIES).map(([, body]) => ({ body })),
);

/** A URL with a part more: at its end if the part begins a query, else at the end of its path. */
function withPart(url: string, part: string): string {
  const [path = '', ...query] = url.split('?');
  if (!part.startsWith('?')) return [path + part, ...query].join('?');
  return url + (query.length > 0 ? part.replace('?', '&') : part);
}

function changed(request: TestRequest, changes: readonly Change[]): TestRequest {
  if (changes.length === 0) return request;
  const headers = Object.assign({}, request.headers, ...changes.map((one) => one.headers));
  const { method = request.method } = changes.find((one) => one.method) ?? {};
  const { body = request.body } = changes.find((one) => one.body) ?? {};
  const url = changes.reduce((text, one) => withPart(text, one.url ?? ''), request.url);
  return {
    ...{ method, url, headers: headers as Record<string, string>, isAlone: true },
    ...(body && { body }),
  };
}

/** Requests to all operations: as documented, nearly so, and hostile. */
export function requestArbitrary(known: Known): fc.Arbitrary<TestRequest> {
  const planned = fc.oneof(...OPERATIONS.map((operation) => plannedArbitrary(operation, known)));
  const none = fc.constant([]);
  const changes = fc.array(changeArbitrary, { minLength: 1, maxLength: 2 });
  return fc
    .tuple(planned, fc.oneof({ weight: 3, arbitrary: none }, { weight: 2, arbitrary: changes }))
    .map(([request, list]) => changed(request, list))
    .map((request) => ({ ...request, [fc.toStringMethod]: () => shown(request) }));
}

/** A request in a line, without the rest of what is long. */
export function shown({ method, url, headers, body }: TestRequest): string {
  const cut = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}...` : text);
  return [method, url, JSON.stringify(headers), body?.toString() ?? ''].map(cut).join(' ');
}
