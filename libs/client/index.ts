export type { Leader, LeaderChange, LeaderMovements, RankChange, ScoreEvent } from '#contracts';
export * from './leader-change-subscriber.js';
export * from './leaders-by-view.js';
export * from './rank-change-subscriber.js';
export * from './subscriber-errors.js';
export type { ResultSubscriber, SubscriberOptions } from './result-subscriber.js';
export * from './score-producer.js';
