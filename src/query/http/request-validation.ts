import { Ajv, type ErrorObject, type Options, type SchemaObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { parseTime } from '#board/time';
import { nestsTooDeeply } from '#contracts';
import { ProblemError } from './problems.js';
import { GATHERED, isGathered } from './query-string.js';

const OPTIONS: Options = {
  strict: false,
  verbose: true,
  useDefaults: false,
  // The schemas are ours.
  validateSchema: false,
  meta: false,
  formats: { 'date-time': (text: string) => parseTime(text) !== undefined },
};

/** Parameters of a URL are texts, so they are converted; values of a body need the right type. */
const inUrl = new Ajv({ ...OPTIONS, coerceTypes: true });
const inBody = new Ajv(OPTIONS);

/** JSON.parse reads any number of levels, but JSON.stringify would overflow the stack. */
const MAX_LEVELS = 1_000;

/**
 * Checks requests for Fastify by the schemas of their routes. Refuses a request that does not match: INVALID_REQUEST or
 * UNKNOWN_PARAMETER. A schema is compiled when its route is first used: all of them take 0.1 s of a start.
 */
export const compileRequestSchema: FastifySchemaCompiler<SchemaObject> = ({ schema, httpPart }) => {
  let compiled: ValidateFunction | undefined;
  return (value: unknown) => {
    if (httpPart === 'body' && nestsTooDeeply(value as object, MAX_LEVELS)) {
      const detail = `the body has more than ${MAX_LEVELS} levels of nesting`;
      return { error: new ProblemError('INVALID_REQUEST', detail) };
    }
    const validate = (compiled ??= (httpPart === 'body' ? inBody : inUrl).compile(schema));
    if (validate(value)) return { value };
    const [problem] = validate.errors ?? [];
    if (problem === undefined) return { error: new Error('not valid') };
    return { error: httpPart === 'body' ? refusalOfBody(problem) : refusalOfUrl(problem) };
  };
};

function refusalOfBody(problem: ErrorObject): ProblemError {
  if (problem.keyword !== 'additionalProperties')
    return wrongValue(problem, namesTo(problem).join('.') || 'the body');
  const known = knownNames(problem);
  return unknownParameter(unknownName(problem), known, listOf(known));
}

/** In messages, parameters have their names in the URL: `where.region`, not `where/region`. */
function refusalOfUrl(problem: ErrorObject): ProblemError {
  if (problem.keyword !== 'additionalProperties') {
    const [name = 'the query', gathered] = namesTo(problem);
    if (!isGathered(name)) return wrongValue(problem, name);
    if (gathered !== undefined) return wrongValue(problem, GATHERED[name] + gathered);
    return unknownParameter(name, [], `write ${GATHERED[name]}NAME=VALUE`);
  }
  const asked = unknownName(problem);
  const names = knownNames(problem);
  const known = names.filter((name) => !isGathered(name));
  const list = listOf(names.map((name) => (isGathered(name) ? `${GATHERED[name]}NAME` : name)));
  const given = (problem.data as Readonly<Record<string, unknown>>)[asked];
  const isMap = typeof given === 'object' && !Array.isArray(given);
  if (isGathered(asked) && isMap) return unknownParameter(`${GATHERED[asked]}NAME`, known, list);
  const dimension = names.includes('where') ? `; a dimension is "${GATHERED.where}${asked}"` : '';
  return unknownParameter(asked, known, list + dimension);
}

function wrongValue({ keyword, message, data }: ErrorObject, place: string): ProblemError {
  const given = JSON.stringify(data ?? null).slice(0, 80);
  const problem = keyword === 'required' ? message : `${message}, not ${given}`;
  return new ProblemError('INVALID_REQUEST', `${place} ${problem}`);
}

function unknownParameter(asked: string, known: readonly string[], list: string): ProblemError {
  const detail = `there is no parameter ${JSON.stringify(asked)} here; ${list}`;
  return new ProblemError('UNKNOWN_PARAMETER', detail, { asked, known });
}

/** The names of the properties that lead to the value at fault, from a JSON pointer (RFC 6901). */
function namesTo({ instancePath }: ErrorObject): string[] {
  const [, ...names] = instancePath.split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function unknownName({ params }: ErrorObject): string {
  return String((params as { additionalProperty: unknown }).additionalProperty);
}

function knownNames({ parentSchema }: ErrorObject): string[] {
  return Object.keys((parentSchema as SchemaObject)['properties'] as object);
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'there are no parameters' : `use ${names.join(', ')}`;
}
