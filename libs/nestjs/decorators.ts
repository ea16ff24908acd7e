import { SetMetadata } from '@nestjs/common';
import { MetadataScanner, Reflector, type DiscoveryService } from '@nestjs/core';
import { canonicalView } from '#board';
import type { DeadLetterRecord, LeaderChange, PeriodResult, RankChange } from '#client';

/** The subscription of a handler. */
interface GroupOptions {
  /**
   * Whether a new group starts at the first result in Kafka; by default as in the options of the
   * module. All handlers of a group must agree: give a handler that differs its own `groupId`.
   */
  readonly fromBeginning?: boolean;
}

/** Which results a handler gets; without a field, all. */
export interface ResultFilter extends GroupOptions {
  readonly board?: string;
  /** The name of a view, such as `all` or `week:2026-W47 region=eu`, or a pattern for names. */
  readonly view?: string | RegExp;
  /**
   * By default the `groupId` of the module. The consumer group is `GROUP.rank-changes`,
   * `GROUP.leader-changes` or `GROUP.period-results`.
   */
  readonly groupId?: string;
}

/** Which dead letters a handler gets; without a field, all. */
export interface DeadLetterFilter extends GroupOptions {
  /** The reason, such as `UNKNOWN_BOARD`. */
  readonly code?: string;
  /** By default the `groupId` of the module. The consumer group is `GROUP.dead-letters`. */
  readonly groupId?: string;
}

/** The filter of any kind of result. */
export type AnyFilter = ResultFilter & DeadLetterFilter;

export type ResultKind = 'rank-changes' | 'leader-changes' | 'period-results' | 'dead-letters';

const metadataKey = (kind: ResultKind) => `ranklog:${kind}`;

/** The filters of a method: one for each of its decorators of a kind. */
const filtersOf = (kind: ResultKind, method: object): readonly AnyFilter[] =>
  new Reflector().get<AnyFilter[] | undefined>(metadataKey(kind), method as () => void) ?? [];

type HandlerDecorator<T> = <Handler extends (result: T) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

function handles<T>(kind: ResultKind, filter: AnyFilter): HandlerDecorator<T> {
  const { view } = filter;
  const named = typeof view === 'string' ? { ...filter, view: canonicalView(view) } : filter;
  return (target, key, descriptor) => {
    const filters = [named, ...filtersOf(kind, descriptor.value ?? {})];
    SetMetadata(metadataKey(kind), filters)(target, key, descriptor);
  };
}

/**
 * Marks a method of a provider or controller that gets committed rank changes, as a
 * RankChangeSubscriber delivers them. With a `view`, `changes` has only the views that match, and
 * the method gets no rank change without such a view. A method may have several decorators: it gets
 * a result once for each that matches.
 */
export const OnRankChange = (filter: ResultFilter = {}): HandlerDecorator<RankChange> =>
  handles('rank-changes', filter);

/**
 * Marks a method of a provider or controller that gets committed leader changes, as a
 * LeaderChangeSubscriber delivers them.
 */
export const OnLeaderChange = (filter: ResultFilter = {}): HandlerDecorator<LeaderChange> =>
  handles('leader-changes', filter);

/**
 * Marks a method of a provider or controller that gets the results of closed windows, as a
 * PeriodResultSubscriber delivers them.
 */
export const OnPeriodClosed = (filter: ResultFilter = {}): HandlerDecorator<PeriodResult> =>
  handles('period-results', filter);

/**
 * Marks a method of a provider or controller that gets dead letters, as a DeadLetterSubscriber
 * delivers them.
 */
export const OnDeadLetter = (filter: DeadLetterFilter = {}): HandlerDecorator<DeadLetterRecord> =>
  handles('dead-letters', filter);

/** A decorated method, bound to its instance, with one of its filters. */
export interface DecoratedHandler<T> {
  /** `Class.method`, for errors. */
  readonly name: string;
  readonly filter: AnyFilter;
  readonly call: (result: T) => unknown;
}

type Method = (result: unknown) => unknown;
type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * The decorated methods of all providers and controllers.
 * @throws if the class of a method is not a singleton
 */
export function findHandlers<T>(discovery: DiscoveryService, kind: ResultKind) {
  const wrappers = [...discovery.getProviders(), ...discovery.getControllers()];
  // Several tokens may provide one instance.
  const byInstance = new Map(wrappers.map((wrapper) => [wrapper.instance as unknown, wrapper]));
  return [...byInstance.values()].flatMap((wrapper) => handlersOf<T>(wrapper, kind));
}

function handlersOf<T>(wrapper: InstanceWrapper, kind: ResultKind): DecoratedHandler<T>[] {
  const instance = wrapper.instance as Record<string, Method> | null | undefined;
  if (typeof instance !== 'object' || instance === null) return [];
  const prototype = Object.getPrototypeOf(instance) as Record<string, Method> | null;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((key) => {
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
