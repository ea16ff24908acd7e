import type { Type } from '@nestjs/common';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { getMetadataStorage } from 'class-validator';
import { fieldsOf } from '../dto/fields.js';

/**
 * Nest passes a value on unchecked if the type of its parameter is no class of ours: an imported
 * type or a `Pick<...>` leaves Object behind.
 * @throws Error unless all queries, paths and bodies have a DTO class, whose fields have decorators
 * of dto/fields.ts; a part of a path, `@Param('name')`, may be a string
 */
export function requireDtos(modules: ModulesContainer): void {
  for (const { controllers } of modules.values())
    for (const { metatype } of controllers.values()) {
      const prototype = metatype?.prototype as Record<string, object>;
      for (const method of new MetadataScanner().getAllMethodNames(prototype))
        if (Reflect.hasMetadata(PATH_METADATA, prototype[method] ?? {}))
          requireDtosOf(metatype as Type<object>, method);
    }
}

/** What Nest knows of the parameters of a handler, by their kind. */
type Args = Readonly<Record<string, { readonly index: number; readonly data?: string }>>;

const INPUTS = new Map<number, string>([
  [RouteParamtypes.BODY, '@Body'],
  [RouteParamtypes.QUERY, '@Query'],
  [RouteParamtypes.PARAM, '@Param'],
]);

function requireDtosOf(controller: Type<object>, method: string): void {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Args;
  const prototype = controller.prototype as object;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as unknown[];
  for (const [key, { index, data }] of Object.entries(args)) {
    // NaN for a decorator by createParamDecorator.
    const input = INPUTS.get(Number(key.split(':')[0]));
    const type = types[index];
    const isPart = input === '@Param' && data !== undefined && type === String;
    if (input === undefined || isPart) continue;
    if (!isOwnClass(type))
      throw new Error(
        `${controller.name}.${method}: its ${input} has no DTO class, so nothing would check it; give it a class of src/query/dto, imported as a value`,
      );
    requireFields(type);
  }
}

/** Whether it is a class, but not one of JavaScript, such as Object or String. */
function isOwnClass(type: unknown): type is Type<object> {
  return typeof type === 'function' && Reflect.get(globalThis, type.name) !== type;
}

/** RequestPipe would refuse a field that it does not know, whatever class-validator says of it. */
function requireFields(dto: Type<object>): void {
  const checks = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const unknown = checks.find(({ propertyName }) => !fieldsOf(dto).has(propertyName));
  if (unknown !== undefined)
    throw new Error(
      `${dto.name}.${unknown.propertyName} has no decorator of src/query/dto/fields.ts; give it one in place of those of class-validator`,
    );
}
