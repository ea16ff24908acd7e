import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { filtersOf, type ResultFilter, type ResultKind } from './decorators.js';

/** A decorated method, bound to its instance, with one of its filters. */
export interface DecoratedHandler<T> {
  /** `Class.method`, for errors. */
  readonly name: string;
  readonly filter: ResultFilter;
  readonly call: (result: T) => unknown;
}

type Method = (result: unknown) => unknown;
type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Finds the decorated methods of all providers and controllers. */
@Injectable()
export class HandlerExplorer {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
  ) {}

  /** @throws if the class of a method is not a singleton: it has no single instance to call */
  find<T>(kind: ResultKind): DecoratedHandler<T>[] {
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    // several tokens may provide one instance
    const byInstance = new Map(wrappers.map((wrapper) => [wrapper.instance as unknown, wrapper]));
    return [...byInstance.values()].flatMap((wrapper) => this.#handlersOf<T>(wrapper, kind));
  }

  #handlersOf<T>(wrapper: InstanceWrapper, kind: ResultKind): DecoratedHandler<T>[] {
    const instance = wrapper.instance as Record<string, Method> | null | undefined;
    if (typeof instance !== 'object' || instance === null) return [];
    const prototype = Object.getPrototypeOf(instance) as Record<string, Method> | null;
    return this.scanner.getAllMethodNames(prototype).flatMap((key) => {
      const method = prototype?.[key];
      if (method === undefined) return [];
      const name = `${instance.constructor.name}.${key}`;
      const filters = filtersOf(kind, method);
      if (filters.length > 0 && (wrapper.isTransient || !wrapper.isDependencyTreeStatic()))
        throw new Error(`${name} can't get results: its class must be a singleton`);
      const call = (result: T) => method.call(instance, result);
      return filters.map((filter) => ({ name, filter, call }));
    });
  }
}
