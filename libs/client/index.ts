export type { RankChange, ScoreEvent } from '#contracts';
export * from './rank-change-subscriber.js';
export * from './score-producer.js';
