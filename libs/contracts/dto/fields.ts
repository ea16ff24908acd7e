import 'reflect-metadata'; // class-transformer needs it; a service may load this before Nest
import { Transform, Type, type TransformFnParams } from 'class-transformer';
import { IsArray, IsObject, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { absentOr, type Check } from '../checks.js';

type Rule = Pick<Check, 'problem'>;
type ClassOf = () => new () => object;

/**
 * A field whose value passes a check. Without Type, class-transformer would convert the value to
 * the type of the property, and call the field `constructor` of an object.
 */
export function Field(rule: Rule, valueOf = asSent): PropertyDecorator {
  return all(
    Type(() => Object),
    Transform(valueOf),
    Passes(rule),
  );
}

/** The value before class-transformer copied it: copies of maps lack names such as `toString`. */
function asSent({ obj, key }: TransformFnParams): unknown {
  return (obj as Record<string, unknown>)[key];
}

function Passes({ problem }: Rule): PropertyDecorator {
  return ValidateBy({
    name: 'contract',
    validator: {
      validate: (value: unknown) => problem(value) === undefined,
      defaultMessage: (args) => `${args?.property ?? ''}${problem(args?.value) ?? ''}`,
    },
  });
}

/** Like Field, but the field can be absent, and null counts as absent. */
export function OptionalField(check: Check): PropertyDecorator {
  return Field(absentOr(check), (params) => asSent(params) ?? undefined);
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/**
 * The other decorators of the field check it only if it is present. null is present; IsOptional
 * would accept it.
 */
export function IfPresent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

/** The other decorators of the field check it only if it is not null. */
export function OrNull(): PropertyDecorator {
  return ValidateIf((_, value) => value !== null);
}

/** An object of a class. ValidateNested alone accepts lists. */
export function Nested(classOf: ClassOf): PropertyDecorator {
  return all(Type(classOf), IsObject(), ValidateNested());
}

/** A list of objects of a class. ValidateNested alone accepts lists of lists. */
export function ListOf(classOf: ClassOf): PropertyDecorator {
  return all(Type(classOf), IsArray(), IsObject({ each: true }), ValidateNested());
}

/** Like applyDecorators of Nest. This folder does not import Nest. */
function all(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
}
