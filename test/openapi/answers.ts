import { parse } from 'csv-parse/sync';
import { Ajv, type SchemaObject, type ValidateFunction } from 'ajv';
import {
  AJV_OPTIONS,
  bodyProblem,
  operationsAt,
  OPERATIONS,
  PROBLEM_STATUSES,
  type Operation,
  type Response,
} from './document.js';
import type { Answer } from './exchange.js';
import { PATTERN_NAMES } from './known.js';
import type { PlannedRequest, TestRequest } from './requests.js';

/**
 * How an answer differs from the document. `takesWrites` says whether the service has the
 * operations that write.
 */
export function violationsOf(
  request: TestRequest,
  answer: Answer,
  takesWrites: boolean,
): readonly string[] {
  const [path = ''] = request.url.split(/[?#;]/);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const known = operationsAt(path).filter((one) => takesWrites || !isWrite(one));
  const operation = known.find((one) => one.method === method);
  const general = violationsOfAny(request, answer);
  if (operation === undefined) return [...general, ...violationsWithoutOperation(known, answer)];
  const { planned } = request;
  return [
    ...general,
    ...violationsOfResponse(operation, request, answer),
    ...(operation.body === undefined ? [] : violationsOfType(request, answer)),
    ...(planned?.operation === operation ? violationsOfVerdict(planned, answer) : []),
  ];
}

const isWrite = ({ method, path }: Operation) =>
  method !== 'GET' && /\/(events|bans\/{player}|erasures\/{player})$/.test(path);

function violationsOfAny({ headers: sent, url }: TestRequest, answer: Answer): string[] {
  const { status, headers, body } = answer;
  const id = headers['x-request-id'];
  const given = sent['x-request-id'] ?? '';
  // Otherwise Node gives up before the headers
  const isRead = status !== 431 && /^[\x20-\x7e]*$/.test(url);
  const isRepeated = /^[\w.:/+=-]{1,128}$/.test(given) && isRead;
  // Kafka had no time to answer
  const isTooEarly = url.includes('timeout=') && body.includes('"SEND_FAILED"');
  return [
    ...(status >= 500 && !isTooEarly ? [`status ${status}: ${body.slice(0, 300)}`] : []),
    ...(id === undefined || (isRepeated && id !== given) ? [`x-request-id: ${String(id)}`] : []),
  ];
}

/** For a request to no operation: `known` are those of the path. */
function violationsWithoutOperation(known: readonly Operation[], answer: Answer): string[] {
  const { status, headers } = answer;
  const takes = known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const isAllowWrong = status === 405 && headers.allow !== takes.sort().join(', ');
  return [
    ...(status < 400 ? [`${status} for what is not documented`] : []),
    ...(isAllowWrong ? [`allow: ${String(headers.allow)}`] : []),
    ...violationsOfProblem(answer),
  ];
}

function violationsOfResponse(
  { responses }: Operation,
  { method }: TestRequest,
  answer: Answer,
): string[] {
  const { status, headers } = answer;
  const own = responses[status];
  const response = own ?? responses['default'];
  if (response === undefined) return [`${status} is not documented`];
  const missing = Object.keys(response.headers ?? {}).filter((name) => headers[name] === undefined);
  return [
    ...missing.map((name) => `no header ${name}`),
    ...(method === 'HEAD' ? [] : own ? violationsOfBody(own, answer) : violationsOfProblem(answer)),
  ];
}

function violationsOfBody({ content }: Response, { headers, body }: Answer): string[] {
  if (content === undefined) return body === '' ? [] : [`body ${body}`];
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  const described = content[type];
  if (described === undefined) return [`content-type "${type}"`];
  if (type === 'text/event-stream') return [];
  if (type === 'text/csv') return violationsOfCsv(body);
  const parts = type === 'application/x-ndjson' ? body.split('\n').slice(0, -1) : [body];
  const problems = parts.map((part) => bodyProblem(described.schema, JSON.parse(part)));
  return problems.flatMap((problem) => (problem === undefined ? [] : [`body: ${problem}`]));
}

function violationsOfCsv(body: string): string[] {
  const rows = parse(body, { columns: true }); // throws if a row has another number of fields
  const isRight = rows.every((row) => /^\d+$/.test((row as Record<string, string>)['rank'] ?? ''));
  return isRight ? [] : [`CSV: ${body.slice(0, 300)}`];
}

function violationsOfProblem({ status, headers, body }: Answer): string[] {
  const type = headers['content-type'];
  if (status === 503 && headers['retry-after'] === undefined) return ['503 without retry-after'];
  if (type !== 'application/problem+json; charset=utf-8') return [`${status} of type "${type}"`];
  if (body === '') return []; // of HEAD
  const problem = JSON.parse(body) as { code: string; status: number };
  const schema = bodyProblem({ $ref: '#/components/schemas/Problem' }, problem);
  const documented = PROBLEM_STATUSES.get(problem.code);
  return [
    ...(schema === undefined ? [] : [`problem: ${schema}`]),
    ...(documented === status ? [] : [`${problem.code} with the status ${status}`]),
    ...(problem.status === status ? [] : [`a problem of ${problem.status} with ${status}`]),
  ];
}

function violationsOfType({ headers, body }: TestRequest, { status }: Answer): string[] {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const isRight = status >= 400 || body === undefined || type === 'application/json';
  return isRight ? [] : [`${status} for a body of type "${type}"`];
}

/** Codes of a request that is not as documented. */
const NOT_AS_DOCUMENTED = new Set(['BAD_REQUEST', 'INVALID_REQUEST', 'UNKNOWN_PARAMETER']);

/** Compares whether a request was refused with what the schemas of its operation say of it. */
function violationsOfVerdict(planned: PlannedRequest, { status, body }: Answer): string[] {
  const broken = brokenRuleOf(planned);
  if (broken !== undefined) {
    const isRefused = status === 400 || status === 414; // a part of the path is too long
    return isRefused ? [] : [`${status} in spite of: ${broken}`];
  }
  if (status < 400) return foreignNamesOf(planned).map((name) => `took "${name}"`);
  if (isWrite(planned.operation) || isPoisonous(planned)) return [];
  const { code, detail } = JSON.parse(body) as { code: string; detail: string };
  return NOT_AS_DOCUMENTED.has(code) ? [`refused, though as documented: ${detail}`] : [];
}

/** Names in the query that the document allows by a pattern, but that no board has. */
function foreignNamesOf({ query }: PlannedRequest): string[] {
  const names = query.map(([name]) => name).filter((name) => /^(where|score)\./.test(name));
  return names.filter((name) => !PATTERN_NAMES.includes(name));
}

/** Whether the service refuses to parse a body, to be safe from changes of prototypes. */
const isPoisonous = ({ body = null }: PlannedRequest) =>
  /__proto__|constructor/.test(JSON.stringify(body));

const ajv = new Ajv(AJV_OPTIONS);
const QUERIES = new Map(OPERATIONS.map((one) => [one, ajv.compile(querySchema(one))]));
const BODIES = new Map(
  OPERATIONS.map((one) => [one, one.body === undefined ? undefined : ajv.compile(one.body)]),
);

/** The rule of the document that a request breaks. */
function brokenRuleOf({ operation, query, body }: PlannedRequest): string | undefined {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of query) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  return (
    errorOf(QUERIES.get(operation), valuesOf(operation, values)) ??
    errorOf(BODIES.get(operation), body ?? null)
  );
}

/** The values that the texts of a query stand for. */
function valuesOf({ parameters }: Operation, texts: ReadonlyMap<string, string | string[]>) {
  const types = new Map(parameters.map(({ name, schema }) => [name, schema['type'] as string]));
  const entries = [...texts].map(
    ([name, given]) => [name, valueOf(types.get(name), given)] as const,
  );
  return Object.fromEntries(entries);
}

function valueOf(type = 'string', given: string | string[]): unknown {
  if (type === 'array') return [given].flat();
  if (type === 'string' || typeof given !== 'string') return given;
  const isValue = /^(true|false|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(given);
  return isValue ? (JSON.parse(given.replace(/^(-?)0+(?=\d)/, '$1')) as unknown) : given;
}

function errorOf(validate: ValidateFunction | undefined, value: unknown): string | undefined {
  return validate === undefined || validate(value) ? undefined : ajv.errorsText(validate.errors);
}

function querySchema({ parameters }: Operation): SchemaObject {
  const own = parameters.filter((one) => one.in === 'query');
  const named = own.filter(({ style }) => style !== 'form');
  const patterns = own.filter(({ style }) => style === 'form').map(({ schema }) => schema);
  return {
    type: 'object',
    patternProperties: Object.assign(
      {},
      ...patterns.map((one) => one['patternProperties'] as object),
    ),
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
    required: named.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}
