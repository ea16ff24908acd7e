import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { metadataKey, type ResultFilter, type ResultKind } from './decorators.js';

/** A decorated method, bound to its provider. */
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
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  /** @throws if the class of a method is not a singleton: then no instance could be called */
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
      const filter =
        method && this.reflector.get<ResultFilter | undefined>(metadataKey(kind), method);
      if (method === undefined || filter === undefined) return [];
      const name = `${instance.constructor.name}.${key}`;
      if (!wrapper.isDependencyTreeStatic())
        throw new Error(`${name} can't get results: its class must be a singleton`);
      return { name, filter, call: (result: T) => method.call(instance, result) };
    });
  }
}
