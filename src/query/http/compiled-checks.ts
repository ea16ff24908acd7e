import type { Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes, type ValidationArguments } from 'class-validator';

type Instance = Readonly<Record<string, unknown>>;
type Check = (value: unknown, instance: Instance) => boolean;
type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

type FieldCheck = (instance: Instance) => boolean;

const compiled = new WeakMap<Type<object>, readonly FieldCheck[]>();

/**
 * Whether an instance surely passes the checks of its class. They are those of class-validator,
 * from its metadata, which it looks up and sorts at each call: that takes several times as long as
 * the checks. Lists of DTOs and other rare kinds are left to it, so false says nothing.
 */
export function surelyPasses(dto: Type<object>, instance: object): boolean {
  let checks = compiled.get(dto);
  if (checks === undefined) compiled.set(dto, (checks = compile(dto)));
  return checks.every((check) => check(instance as Instance));
}

/** A check for each field. */
function compile(dto: Type<object>): FieldCheck[] {
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(dto, '', false, false);
  return Object.entries(storage.groupByPropertyName(all)).map(([name, ofField]) => {
    const conditions = ofField.filter(
      ({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION,
    );
    const checks = ofField.filter((one) => !conditions.includes(one)).map(checkOf);
    return (instance) => {
      const value = instance[name];
      for (const { constraints } of conditions)
        if (!(constraints[0] as (of: object, value: unknown) => boolean)(instance, value))
          return true;
      return checks.every((check) => check(value, instance));
    };
  });
}

function checkOf(metadata: Metadata): Check {
  const { type, each, validateIf, constraintCls, constraints, propertyName: property } = metadata;
  if (type !== ValidationTypes.CUSTOM_VALIDATION || validateIf !== undefined) return () => false;
  const rules = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return (value, object) => {
    const args: ValidationArguments = { value, object, constraints, property, targetName: '' };
    const passes = (one: unknown) =>
      rules.every(({ instance }) => instance.validate(one, args) === true);
    return each && Array.isArray(value) ? value.every(passes) : passes(value);
  };
}
