import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsArray, IsObject, ValidateIf, ValidateNested } from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';

type PartOf = () => new () => object;

/** A field that holds an object of a class of the contracts. */
export const IsPart =
  (part: PartOf): PropertyDecorator =>
  (target, property) => {
    Type(part)(target, property);
    ValidateNested()(target, property);
    IsObject()(target, property);
  };

/** A field that holds a list of such objects. */
export const IsListOfParts =
  (part: PartOf): PropertyDecorator =>
  (target, property) => {
    Type(part)(target, property);
    ValidateNested({ each: true })(target, property);
    IsObject({ each: true })(target, property);
    IsArray()(target, property);
  };

/** May be null, but not absent: the class has to name the field in AlsoRequired. */
export const MayBeNull = () => (target: object, property: string) => {
  ValidateIf((_, value) => value !== null)(target, property);
  JSONSchema((schema) => ({ anyOf: [{ type: 'null' }, schema] }))(target, property);
};

/** Fields that the compiled schema would take for optional, as some values of them are not looked at. */
export const AlsoRequired = (...fields: string[]) =>
  JSONSchema((schema) => ({ ...schema, required: [...(schema.required ?? []), ...fields] }));
