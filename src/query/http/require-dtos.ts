import type { Type } from '@nestjs/common';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { getMetadataStorage } from 'class-validator';
import { fieldsOf } from '../dto/fields.js';

/**
 * Requires DTO classes for all queries, paths and bodies. For any other type, Nest would pass the
 * values on unchecked: an imported type or a `Pick<...>` becomes Object at run time.
 * @throws Error unless all of them have a DTO class whose fields have decorators of dto/fields.ts;
 * a part of a path, `@Param('name')`, may be a string
 */
export function requireDtos(modules: ModulesContainer): void {
  for (const { controllers } of modules.values())
    for (const { metatype } of controllers.values()) requireDtosOfAll(metatype as Type<object>);
}

function requireDtosOfAll(controller: Type<object>): void {
  const prototype = controller.prototype as Record<string, object>;
  for (const method of new MetadataScanner().getAllMethodNames(prototype)) {
    const isHandler = Reflect.hasMetadata(PATH_METADATA, prototype[method] ?? {});
    if (isHandler) requireDtosOf(controller, method);
  }
}

const INPUTS = new Map<number, '@Body' | '@Query' | '@Param'>([
  [RouteParamtypes.BODY, '@Body'],
  [RouteParamtypes.QUERY, '@Query'],
  [RouteParamtypes.PARAM, '@Param'],
]);

/** The parameters of a handler that get values of the request, by the metadata of Nest. */
export function inputsOf(controller: object, method: string | symbol) {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Readonly<
    Record<string, { readonly index: number; readonly data?: string }>
  >;
  return Object.entries(args).flatMap(([key, { index, data }]) => {
    const input = INPUTS.get(Number(key.split(':')[0])); // NaN for one by createParamDecorator
    return input === undefined ? [] : [{ input, index, data }];
  });
}

function requireDtosOf(controller: Type<object>, method: string): void {
  const prototype = controller.prototype as object;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as unknown[];
  for (const { input, index, data } of inputsOf(controller, method)) {
    const type = types[index];
    if (input === '@Param' && data !== undefined && type === String) continue; // a part of a path
    if (!isOwnClass(type))
      throw new Error(
        `${controller.name}.${method}: its ${input} has no DTO class, so nothing would check ` +
          'it; give it a class of src/query/dto, imported as a value',
      );
    requireFields(type);
  }
}

/** Whether a type is a class, but not a class of JavaScript, such as Object or String. */
function isOwnClass(type: unknown): type is Type<object> {
  return typeof type === 'function' && Reflect.get(globalThis, type.name) !== type;
}

/** Requires decorators of dto/fields.ts: RequestPipe refuses fields that have only other checks. */
function requireFields(dto: Type<object>): void {
  const checks = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const unknown = checks.find(({ propertyName }) => !fieldsOf(dto).has(propertyName));
  if (unknown !== undefined)
    throw new Error(
      `${dto.name}.${unknown.propertyName} has no decorator of src/query/dto/fields.ts; give ` +
        'it one in place of those of class-validator',
    );
}
