import { Ajv, type ErrorObject, type Options, type SchemaObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { parseTime } from '#board/time';
import { nestsTooDeeply } from '#contracts';
import { ProblemError } from './problems.js';

const OPTIONS: Options = {
  strict: false,
  verbose: true,
  useDefaults: false,
  ...{ validateSchema: false, meta: false }, // the schemas are ours
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
    return { error: problem === undefined ? new Error('not valid') : requestRefusal(problem) };
  };
};

function requestRefusal({
  instancePath,
  keyword,
  params,
  message,
  ...rest
}: ErrorObject): ProblemError {
  const place = instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'additionalProperties') {
    const asked = String((params as { additionalProperty: unknown }).additionalProperty);
    const known = Object.keys((rest.parentSchema as SchemaObject)['properties'] as object);
    return unknownParameter(asked, known);
  }
  const given = JSON.stringify(rest.data ?? null).slice(0, 80);
  const what = place === '' ? 'the body' : place;
  const problem = keyword === 'required' ? message : `${message}, not ${given}`;
  return new ProblemError('INVALID_REQUEST', `${what} ${problem}`);
}

export function unknownParameter(asked: string, known: readonly string[]): ProblemError {
  const list = known.length === 0 ? 'there are no parameters' : `use ${known.join(', ')}`;
  const detail = `there is no parameter ${JSON.stringify(asked)} here; ${list}`;
  return new ProblemError('UNKNOWN_PARAMETER', detail, { asked, known });
}
