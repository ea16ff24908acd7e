import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { validate, type ValidationError } from 'class-validator';
import { isPlainObject, nestsTooDeeply } from '#contracts';
import { ProblemError } from '#problems';
import {
  fieldsOf,
  GATHERED,
  HAS_STRINGS,
  hasAnyFields,
  isGathered,
  noStringIn,
  type Field,
} from '../dto/fields.js';
import { surelyPasses } from './compiled-checks.js';

/** JSON.parse reads any number of levels, but JSON.stringify would overflow the stack. */
const MAX_BODY_LEVELS = 1_000;

/** Characters of a wrong value in a message. */
const MAX_SHOWN = 80;

type Values = Record<string, unknown>;
type Place = 'url' | 'body';

/**
 * Checks the values of a request by the DTO class of the parameter, whose decorators are in
 * dto/fields.ts, and gives the handler an instance of the class. Converts strings of queries and
 * paths; values of a body need the right type.
 * docs/decisions/0030-requests-are-dto-classes.md has the differences from Nest's ValidationPipe.
 * @throws ProblemError INVALID_REQUEST or UNKNOWN_PARAMETER, with the first problem
 */
export class RequestPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    const dto: Type<object> | undefined = metatype;
    const isPartOfPath = metatype === String;
    if (dto === undefined || isPartOfPath || type === 'custom') return value;

    const place = type === 'body' ? 'body' : 'url';
    if (place === 'body') requireObject(value);
    const instance = instanceOf(dto, value as Values, place);
    if (!surelyPasses(dto, instance)) {
      const [error] = await validate(instance);
      if (error !== undefined) throw invalid(problemOf(error));
    }
    return hasAnyFields(dto) ? value : instance;
  }
}

function requireObject(body: unknown): void {
  if (typeof body === 'object' && body !== null && nestsTooDeeply(body, MAX_BODY_LEVELS))
    throw invalid(`the body has more than ${MAX_BODY_LEVELS} levels of nesting`);
  if (!isPlainObject(body)) throw invalid(`the body must be an object, ${notGiven(body)}`);
}

/**
 * An instance with the given values. Omits fields that a class with AnyFields does not declare.
 * @throws ProblemError UNKNOWN_PARAMETER for a name that another class does not declare
 */
function instanceOf(dto: Type<object>, values: Values, place: Place): object {
  const fields = fieldsOf(dto);
  const instance = new dto() as Values;
  for (const [name, value] of Object.entries(values)) {
    const field = fields.get(name);
    if (field === undefined && hasAnyFields(dto)) continue;
    if (field === undefined) throw unknownName(name, value, fields, place);
    if (place === 'url' && isGathered(name) && !isPlainObject(value))
      throw unknownParameter(name, [], `write ${GATHERED[name]}NAME=VALUE`);

    instance[name] = valueOf(name, value, field, place);
  }
  return instance;
}

/**
 * The value for class-validator. Refuses two kinds of values here: class-validator would check a
 * list of any size, and fail on values with a field `constructor` where it expects instances.
 */
function valueOf(name: string, value: unknown, field: Field, place: Place): unknown {
  const { fromUrl, items, maxItems = Infinity } = field;
  const converted = place === 'url' && fromUrl !== undefined ? fromUrl(value) : value;
  if (Array.isArray(converted) && converted.length > maxItems)
    throw invalid(`${name} must have at most ${maxItems} values, not ${converted.length}`);
  if (items === undefined) return converted;
  if (!Array.isArray(converted) || !converted.every(isPlainObject))
    throw invalid(`${name} must be a list of objects, ${notGiven(converted)}`);
  return converted.map((item) => instanceOf(items(), item, place));
}

type Fields = ReturnType<typeof fieldsOf>;

/** In messages, parameters have their names in the URL: `where.region`. */
function unknownName(name: string, value: unknown, fields: Fields, place: Place): ProblemError {
  const names = [...fields.keys()];
  const isBy = name === 'by' && fields.has('reason');
  if (isBy) return unknownParameter(name, names, `${usage(names)}; "by" is the name of the token`);
  if (place === 'body') return unknownParameter(name, names, usage(names));

  const known = names.filter((field) => !isGathered(field));
  const all = usage(names.map((field) => (isGathered(field) ? `${GATHERED[field]}NAME` : field)));
  if (isGathered(name) && isPlainObject(value))
    return unknownParameter(`${GATHERED[name]}NAME`, known, all);
  const dimension = fields.has('where') ? `; a dimension is "${GATHERED.where}${name}"` : '';
  return unknownParameter(name, known, all + dimension);
}

function usage(names: readonly string[]): string {
  return names.length === 0 ? 'there are no parameters' : `use ${names.join(', ')}`;
}

function unknownParameter(asked: string, known: readonly string[], way: string): ProblemError {
  const detail = `there is no parameter ${JSON.stringify(asked)} here; ${way}`;
  return new ProblemError('UNKNOWN_PARAMETER', detail, { asked, known });
}

/** The problem of a field, or of the first wrong field in it: `a.0.b must be a string, not 5`. */
function problemOf({ property, value, constraints = {}, children = [] }: ValidationError): string {
  const [rule, message] = Object.entries<string>(constraints).at(0) ?? [];
  const child = children.at(0);
  if (rule === undefined && child !== undefined) return `${property}.${problemOf(child)}`;
  if (rule !== HAS_STRINGS) return `${message}, ${notGiven(value)}`;

  const [name = '', given] = noStringIn(value) ?? [];
  const prefix = isGathered(property) ? GATHERED[property] : `${property}.`;
  return `${prefix}${name} must be a string, ${notGiven(given)}`;
}

/** The end of a problem: `not 5`. */
function notGiven(value: unknown): string {
  if (value === undefined) return 'but is missing';

  const text = JSON.stringify(value);
  if (text.length <= MAX_SHOWN) return `not ${text}`;
  if (Array.isArray(value)) return `not a list of ${value.length}`;
  return `not ${text.slice(0, MAX_SHOWN)}...`;
}

function invalid(detail: string): ProblemError {
  return new ProblemError('INVALID_REQUEST', detail);
}
