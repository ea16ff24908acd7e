import type { Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes, type ValidationArguments } from 'class-validator';

type Instance = Readonly<Record<string, unknown>>;
type Check = (value: unknown, instance: Instance) => boolean;
type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

type FieldCheck = (instance: Instance) => boolean;
type Condition = (instance: object, value: unknown) => boolean;

const compiled = new WeakMap<Type<object>, readonly FieldCheck[]>();

/**
 * Whether an instance surely passes the checks that class-validator has for its class. Runs them
 * from compiled metadata: class-validator looks up and sorts its metadata at each call, which takes
 * several times as long as the checks. Does not compile lists of DTOs and other rare checks, so
 * after `false`, class-validator has to decide.
 */
export function surelyPasses(dto: Type<object>, instance: object): boolean {
  let checks = compiled.get(dto);
  if (checks === undefined) {
    checks = compile(dto);
    compiled.set(dto, checks);
  }
  return checks.every((check) => check(instance as Instance));
}

/** A check for each field. */
function compile(dto: Type<object>): FieldCheck[] {
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(dto, '', false, false);
  return Object.entries(storage.groupByPropertyName(all)).map(([name, ofField]) => {
    const isCondition = ({ type }: Metadata) => type === ValidationTypes.CONDITIONAL_VALIDATION;
    const conditions = ofField
      .filter(isCondition)
      .map(({ constraints }) => constraints[0] as Condition);
    const checks = ofField.filter((metadata) => !isCondition(metadata)).map(checkOf);
    return (instance) => {
      const value = instance[name];
      const isChecked = conditions.every((condition) => condition(instance, value));
      return !isChecked || checks.every((check) => check(value, instance));
    };
  });
}

function checkOf(metadata: Metadata): Check {
  const { type, each, validateIf, constraintCls, constraints, propertyName: property } = metadata;
  if (type !== ValidationTypes.CUSTOM_VALIDATION || validateIf !== undefined) return () => false;
  const rules = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return (value, object) => {
    const args: ValidationArguments = { value, object, constraints, property, targetName: '' };
    const passes = (item: unknown) =>
      rules.every(({ instance }) => instance.validate(item, args) === true);
    return each && Array.isArray(value) ? value.every(passes) : passes(value);
  };
}
