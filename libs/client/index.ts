export type {
  DeadLetter,
  Leader,
  LeaderChange,
  LeaderMovements,
  PeriodResult,
  PlayerRecord,
  PlayerRecordKind,
  RankChange,
  ScoreEvent,
} from '#contracts';
// For services with a consumer of their own.
export {
  decodeDeadLetter,
  decodeLeaderChange,
  decodePeriodResult,
  decodeRankChange,
  MalformedRecordError,
  periodResultId,
  topicNames,
} from '#contracts';
export { MalformedViewError } from '#board';
export { RanklogError } from '#errors';
export {
  GroupRefusedError,
  KafkaUnreachableError,
  OtherTopicsError,
  PermanentPartitionError,
  TopicsMissingError,
  UnreadableBatchError,
} from '#kafka-batch';
export * from './client-errors.js';
export * from './leader-change-follower.js';
export * from './leaders-by-view.js';
export * from './moderation-producer.js';
export * from './result-subscriber.js';
export type { PlaceReader, SendOutcome, ViewPlace } from './result-wait.js';
export type { HandlerErrors, SkippedResult } from './retrying-handler.js';
export { ScoreProducer, type ScoreProducerOptions, type SendOptions } from './score-producer.js';
