import { SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { LeaderChange, RankChange } from '#client';

/** Which results a handler gets; without a field, all. */
export interface ResultFilter {
  readonly board?: string;
  /** The name of a view, such as `all` or `week:2026-W47 region=eu`, or a pattern that its name matches. */
  readonly view?: string | RegExp;
  /** By default that of the module. The consumer group is `GROUP.rank-changes` or `GROUP.leader-changes`. */
  readonly groupId?: string;
}

export type ResultKind = 'rank-changes' | 'leader-changes';

const metadataKey = (kind: ResultKind) => `ranklog:${kind}`;

/** The filters of a method: one for each of its decorators of a kind. */
export const filtersOf = (kind: ResultKind, method: object): readonly ResultFilter[] =>
  new Reflector().get<ResultFilter[] | undefined>(metadataKey(kind), method as () => void) ?? [];

type HandlerDecorator<T> = <Handler extends (result: T) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

function handles<T>(kind: ResultKind, filter: ResultFilter): HandlerDecorator<T> {
  return (target, key, descriptor) => {
    const filters = [filter, ...filtersOf(kind, descriptor.value ?? {})];
    SetMetadata(metadataKey(kind), filters)(target, key, descriptor);
  };
}

/**
 * Marks a method of a provider or controller that gets committed rank changes, as a RankChangeSubscriber delivers them. With a
 * `view`, `changes` has only the views that match, and the method gets no rank change without such a view. A method may have
 * several decorators: it gets a result once for each that matches.
 */
export const OnRankChange = (filter: ResultFilter = {}): HandlerDecorator<RankChange> =>
  handles('rank-changes', filter);

/** Marks a method of a provider or controller that gets committed leader changes, as a LeaderChangeSubscriber delivers them. */
export const OnLeaderChange = (filter: ResultFilter = {}): HandlerDecorator<LeaderChange> =>
  handles('leader-changes', filter);
