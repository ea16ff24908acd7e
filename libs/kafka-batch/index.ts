export { Backoff } from './backoff.js';
export { BatchConsumer, type BatchConsumerOptions, type ConsumerHealth } from './batch-consumer.js';
export { allDone, Batched } from './batched.js';
export { MAX_DECOMPRESSED_BYTES } from './codecs.js';
export type { LogBatch } from './committed-messages.js';
export * from './errors.js';
export { isPassedOver, passOver } from './fetch-decoder.js';
export { ROUND_ROBIN } from './group-members.js';
export { kafkaLogCreator } from './kafka-logger.js';
export { KAFKA_ERRORS, patchKafkajs } from './kafkajs-patches.js';
export { LogReader, readRanges, type LogReaderOptions } from './log-reader.js';
export {
  lastCommittedRecord,
  lastRecords,
  lookAt,
  orUnreadable,
  partitionCount,
  unreadableFrom,
  writtenEnd,
  type PartitionLook,
} from './lookups.js';
export { LOOKS, type PartitionHealth, type PartitionState } from './partition-worker.js';
export { partitionOf } from './partitioner.js';
export * from './positions.js';
export { BatchEncoder, type OutgoingRecord } from './record-batch.js';
export { brokerFacts, type Right } from './rights.js';
export { TopicFollower } from './topic-follower.js';
export { TransactionalPublisher } from './transactional-publisher.js';
export * from './types.js';
