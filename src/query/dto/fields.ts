import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import {
  ApiProperty,
  ApiSchema,
  type ApiPropertyOptions,
  type ApiSchemaOptions,
} from '@nestjs/swagger';
import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsPositive,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { parseTime } from '#board/time';

/*
 * The fields of requests. A decorator checks a field (class-validator), describes it for OpenAPI
 * (@nestjs/swagger), and says how its text in a URL is converted. A field is optional unless
 * `required` is given; then write its type without `?`. No field is ever null.
 */

/** The maps of requests. In a URL, an entry is a parameter with a prefix: `where.region=eu`. */
export const GATHERED = { where: 'where.', scores: 'score.' } as const;

export function isGathered(name: string): name is keyof typeof GATHERED {
  return Object.hasOwn(GATHERED, name);
}

/** Facts about a field that RequestPipe uses beside its checks. */
export interface Field {
  /**
   * Converts a value of a URL: a string, or a list of strings if the parameter is repeated. Returns
   * a value that it can't convert unchanged, so that the check refuses it.
   */
  readonly fromUrl?: ((value: unknown) => unknown) | undefined;
  /** The most values of a list. */
  readonly maxItems?: number | undefined;
  /** The class of the objects in a list. */
  readonly items?: (() => Type<object>) | undefined;
}

interface FieldOptions {
  readonly required?: boolean;
}

const FIELDS = Symbol('fields');
const ANY_FIELDS = Symbol('any fields');

/** The fields of a DTO class and of those that it extends. */
export function fieldsOf({ prototype }: Type<object>): ReadonlyMap<string, Field> {
  const fields = Reflect.getMetadata(FIELDS, prototype as object) as Map<string, Field> | undefined;
  return fields ?? new Map<string, Field>();
}

export function Text(description: string, options?: FieldOptions) {
  return field({
    ...options,
    schema: { type: 'string', description },
    checks: [IsString(must('a string'))],
  });
}

/** A time, which stays a string. */
export function Time(description: string) {
  const validate = (value: unknown) => typeof value === 'string' && parseTime(value) !== undefined;
  const allowed = 'an RFC 3339 time with a zone, such as 2026-11-20T09:00:00Z';
  return field({
    schema: { type: 'string', format: 'date-time', description },
    checks: [ValidateBy({ name: 'isTime', validator: { validate } }, must(allowed))],
  });
}

export function Flag(description: string) {
  return field({
    schema: { type: 'boolean', description },
    checks: [IsBoolean(must('true or false'))],
    fromUrl: booleanOf,
  });
}

/** A whole number from `minimum` to `maximum`. */
export function Whole(description: string, minimum: number, maximum: number) {
  const options = must(`a whole number from ${minimum} to ${maximum}`);
  return field({
    schema: { type: 'integer', minimum, maximum, description },
    checks: [IsInt(options), Min(minimum, options), Max(maximum, options)],
    fromUrl: numberOf(/^-?\d+$/),
  });
}

/** A number above 0 and up to 100. */
export function Percent(description: string) {
  const options = must('a number above 0 and up to 100');
  // In OpenAPI 3.0, whose types @nestjs/swagger has, exclusiveMinimum is not a number.
  const limits = { exclusiveMinimum: 0, maximum: 100 } as object;
  return field({
    schema: { type: 'number', ...limits, description },
    checks: [IsPositive(options), Max(100, options)],
    fromUrl: numberOf(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i),
  });
}

/** One of some strings. */
export function OneOf(description: string, values: readonly string[]) {
  return field({
    schema: { type: 'string', enum: [...values], description },
    checks: [IsIn(values, must(`one of ${values.join(', ')}`))],
  });
}

/** Strings by name; the field is one of GATHERED. */
export function TextMap(description: string) {
  return field({
    schema: { type: 'object', additionalProperties: { type: 'string' }, description },
    checks: [IsObject(must('an object of strings by name')), hasStrings()],
  });
}

/** A list of strings; in a URL, the parameter once for each. */
export function TextList(
  description: string,
  minItems: number,
  maxItems: number,
  options?: FieldOptions,
) {
  const items = { type: 'string' };
  return field({
    ...options,
    schema: { type: 'array', items, minItems, maxItems, description },
    checks: [
      ArrayMinSize(minItems, must(`a list of ${minItems} to ${maxItems} strings`)),
      hasStrings(),
    ],
    maxItems,
    fromUrl: (value) => [value].flat(),
  });
}

/** A list of objects, in a body. */
export function ObjectList(description: string, minItems: number, maxItems: number) {
  const options = must(`a list of ${minItems} to ${maxItems} objects`);
  const items = { type: 'object' };
  return field({
    schema: { type: 'array', items, minItems, maxItems, description },
    checks: [ArrayMinSize(minItems, options), IsObject({ ...options, each: true })],
    maxItems,
  });
}

/** A required list of objects of a DTO class, in a body. */
export function DtoList(items: () => Type<object>, description: string, maxItems: number) {
  return field({
    required: true,
    schema: { type: () => items(), isArray: true, maxItems, description },
    checks: [IsArray(must('a list of objects')), ValidateNested({ each: true })],
    maxItems,
    items,
  });
}

/**
 * A class for a body that may have any other fields: the handler gets the body itself, as a field
 * may be named `constructor`.
 */
export function AnyFields(description: string): ClassDecorator {
  // OpenAPI has the option, its type in @nestjs/swagger does not.
  const options = { description, additionalProperties: true } as ApiSchemaOptions;
  return applyDecorators(SetMetadata(ANY_FIELDS, true), ApiSchema(options));
}

export function hasAnyFields(dto: Type<object>): boolean {
  return Reflect.getMetadata(ANY_FIELDS, dto) === true;
}

/** The check that a list or a map has only strings. */
export const HAS_STRINGS = 'hasStrings';

/** The index or name and the value of the first entry of a list or a map that is no string. */
export function noStringIn(value: unknown): [string, unknown] | undefined {
  if (typeof value !== 'object' || value === null) return undefined; // another check refuses it
  return Object.entries(value).find(([, entry]) => typeof entry !== 'string');
}

interface FieldDefinition extends Field, FieldOptions {
  readonly schema: ApiPropertyOptions;
  readonly checks: readonly PropertyDecorator[];
}

function field({ schema, checks, required = false, ...known }: FieldDefinition) {
  const register: PropertyDecorator = (prototype, name) => {
    const inherited = fieldsOf(prototype.constructor as Type<object>);
    const fields = new Map(inherited).set(String(name), known);
    Reflect.defineMetadata(FIELDS, fields, prototype);
  };
  // IsOptional would accept null, too.
  const ifGiven = required ? [] : [ValidateIf((_, value) => value !== undefined)];
  const described = ApiProperty({ ...schema, required } as ApiPropertyOptions);
  return applyDecorators(register, described, ...ifGiven, ...checks);
}

/**
 * The message about a wrong value. It must contain nothing that a client sends: class-validator
 * replaces `$value` and others in messages, which could make them very long.
 */
function must(allowed: string): ValidationOptions {
  return { message: `$property must be ${allowed}` };
}

function hasStrings() {
  const validate = (value: unknown) => noStringIn(value) === undefined;
  return ValidateBy({ name: HAS_STRINGS, validator: { validate } });
}

function booleanOf(value: unknown): unknown {
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value;
}

/** Returns a function that converts strings of a form to numbers. */
function numberOf(form: RegExp) {
  return (value: unknown) => {
    const number = typeof value === 'string' && form.test(value) ? Number(value) : NaN;
    return Number.isFinite(number) ? number : value;
  };
}
