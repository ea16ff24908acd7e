import { SetMetadata } from '@nestjs/common';
import type { LeaderChange, RankChange } from '#client';

/** Which results a handler gets; without a field, all. */
export interface ResultFilter {
  readonly board?: string;
  /** The name of a view, such as `all` or `week:2026-W47 region=eu`, or a pattern that its name matches. */
  readonly view?: string | RegExp;
  /** The consumer group of the handler; by default that of the module. Handlers of a group share its position in the log. */
  readonly groupId?: string;
}

export type ResultKind = 'rank-changes' | 'leader-changes';

/** The metadata key of the methods that handle results of a kind. */
export const metadataKey = (kind: ResultKind) => `ranklog:${kind}`;

type HandlerDecorator<T> = <Handler extends (result: T) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

/**
 * Marks a method of a provider or controller that gets committed rank changes, as a RankChangeSubscriber delivers them. With a
 * `view`, `changes` has only the views that match, and the method gets no rank change without such a view.
 */
export const OnRankChange = (filter: ResultFilter = {}): HandlerDecorator<RankChange> =>
  SetMetadata(metadataKey('rank-changes'), filter);

/** Marks a method of a provider or controller that gets committed leader changes, as a LeaderChangeSubscriber delivers them. */
export const OnLeaderChange = (filter: ResultFilter = {}): HandlerDecorator<LeaderChange> =>
  SetMetadata(metadataKey('leader-changes'), filter);
