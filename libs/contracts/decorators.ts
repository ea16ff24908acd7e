import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';
import { isEventTime } from '#board';
import {
  isAttributes,
  isColumns,
  isDelta,
  isDeltas,
  isId,
  isStarts,
  MAX_ATTRIBUTE_BYTES,
  MAX_ATTRIBUTE_VALUES,
  MAX_DELTAS,
  MAX_ID_BYTES,
  MAX_NUMBER_DIGITS,
} from './values.js';

/** A predicate for class-validator and for the compiled validators, and what it allows. */
interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly allows: string;
}

const NUMBER = `a decimal string such as "12" or "-0.5" (no exponent, no spaces), or a JSON number of at most ${MAX_NUMBER_DIGITS} significant digits; send larger numbers as a string`;

/** All rules, by the name of their class-validator constraint. */
export const RULES = {
  ranklogId: {
    holds: isId,
    allows: `a string of 1 to ${MAX_ID_BYTES} bytes of UTF-8 without control characters or lone surrogates`,
  },
  ranklogDelta: { holds: isDelta, allows: NUMBER },
  ranklogDeltas: {
    holds: isDeltas,
    allows: `an object with values for 1 to ${MAX_DELTAS} columns, each ${NUMBER}`,
  },
  ranklogTime: {
    holds: isEventTime,
    allows: 'an RFC 3339 time with a zone, years 0001 to 9999, such as "2026-11-20T09:00:00.123Z"',
  },
  ranklogAttributes: {
    holds: isAttributes,
    allows: `an object of strings, or of lists of up to ${MAX_ATTRIBUTE_VALUES} strings; each name has 1 to ${MAX_ID_BYTES} bytes, each string 1 to ${MAX_ATTRIBUTE_BYTES}, and neither has control characters or lone surrogates`,
  },
  ranklogColumns: { holds: isColumns, allows: 'an object of decimal strings by column' },
  ranklogStarts: {
    holds: isStarts,
    allows: 'an object of offsets by partition, such as {"0":12}',
  },
} as const satisfies Record<string, Rule>;

const rule = (name: keyof typeof RULES) => (): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: RULES[name].holds,
      defaultMessage: (info) => `${info?.property ?? name} must be ${RULES[name].allows}`,
    },
  });

export const IsId = rule('ranklogId');
export const IsDelta = rule('ranklogDelta');
export const IsDeltas = rule('ranklogDeltas');
export const IsEventTime = rule('ranklogTime');
export const IsColumns = rule('ranklogColumns');
export const IsStarts = rule('ranklogStarts');
export const IsAttributes = rule('ranklogAttributes');

/** The field can be absent, but not null. (IsOptional of class-validator also allows null.) */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** A safe integer of at least `least`. */
export const IsCount =
  (least: number): PropertyDecorator =>
  (target, property) => {
    Min(least)(target, property);
    Max(Number.MAX_SAFE_INTEGER)(target, property);
    // The last decorator sets the type in the compiled schema. Min and Max would set it to number.
    IsInt()(target, property);
  };

type PartOf = () => new () => object;

/** A field with an object of another class. */
export const IsPart =
  (part: PartOf): PropertyDecorator =>
  (target, property) => {
    Type(part)(target, property);
    ValidateNested()(target, property);
    IsObject()(target, property);
  };

/** A field with a list of objects of another class. */
export const IsListOfParts =
  (part: PartOf): PropertyDecorator =>
  (target, property) => {
    Type(part)(target, property);
    ValidateNested({ each: true })(target, property);
    IsObject({ each: true })(target, property);
    IsArray()(target, property);
  };

/** The field can be null, but not absent. Its class has to list it in AlsoRequired. */
export const MayBeNull = () => (target: object, property: string) => {
  ValidateIf((_, value) => value !== null)(target, property);
  JSONSchema((schema) => ({ anyOf: [{ type: 'null' }, schema] }))(target, property);
};

/** Makes fields required that the compiled schema takes for optional because of their ValidateIf. */
export const AlsoRequired = (...fields: string[]) =>
  JSONSchema((schema) => ({ ...schema, required: [...(schema.required ?? []), ...fields] }));
