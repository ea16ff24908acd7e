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
import { RULES, type RuleName } from '../rules.js';

const rule = (name: RuleName) => (): PropertyDecorator =>
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

/** Applies decorators in order. The last one sets the type in the compiled schema. */
const all =
  (...decorators: ((target: object, property: string) => void)[]) =>
  (target: object, property: string) => {
    for (const decorate of decorators) decorate(target, property);
  };

/** A safe integer of at least `least`. */
export const IsCount = (least: number) => all(Min(least), Max(Number.MAX_SAFE_INTEGER), IsInt());

type PartOf = () => new () => object;

/** A field with an object of another class. */
export const IsPart = (part: PartOf) => all(Type(part), ValidateNested(), IsObject());

/** A field with a list of objects of another class. */
export const IsListOfParts = (part: PartOf) =>
  all(Type(part), ValidateNested({ each: true }), IsObject({ each: true }), IsArray());

/** The field can be null, but not absent. Its class has to list it in AlsoRequired. */
export const MayBeNull = () =>
  all(
    ValidateIf((_, value) => value !== null),
    JSONSchema((schema) => ({ anyOf: [{ type: 'null' }, schema] })),
  );

/** Makes fields required that the compiled schema takes for optional because of their ValidateIf. */
export const AlsoRequired = (...fields: string[]) =>
  JSONSchema((schema) => ({ ...schema, required: [...(schema.required ?? []), ...fields] }));
