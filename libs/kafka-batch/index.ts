export { Backoff } from './kafkajs/backoff.js';
export {
  BatchConsumer,
  type BatchConsumerOptions,
  type ConsumerHealth,
} from './consume/batch-consumer.js';
export { Batched } from './kafkajs/batched.js';
export { MAX_DECOMPRESSED_BYTES } from './kafkajs/codecs.js';
export type { LogBatch } from './kafkajs/committed-messages.js';
export * from './kafkajs/kafka-errors.js';
export { isPassedOver, passOver } from './kafkajs/fetch-decoder.js';
export { ROUND_ROBIN } from './consume/group-members.js';
export { kafkaLogCreator, limitedProducer } from './kafkajs/kafka-logger.js';
export { KAFKA_ERRORS, patchKafkajs } from './kafkajs/kafkajs-patches.js';
export type { LogEnd } from './look-up/leader-lookups.js';
export {
  logRange,
  logRanges,
  NEW_TOPIC_MS,
  partitionCount,
  requireTopics,
} from './look-up/log-ranges.js';
export { LogReader, unlessAborted, type LogReaderOptions } from './look-up/log-reader.js';
export {
  lastCommittedRecord,
  lastRecords,
  lookAt,
  orUnreadable,
  recordsAt,
  unreadableFrom,
  type PartitionLook,
} from './look-up/log-records.js';
export { LOOKS, type PartitionHealth, type PartitionState } from './consume/partition-worker.js';
export { partitionOf } from './produce/partitioner.js';
export { committedOffsets, committedWithMetadata, offsetsAtTime } from './look-up/positions.js';
export { readRanges } from './look-up/read-ranges.js';
export { BatchEncoder, type OutgoingRecord } from './kafkajs/record-batch.js';
export { brokerFacts, type Right } from './look-up/kafka-rights.js';
export { TopicFollower } from './look-up/topic-follower.js';
export { whenKnown } from './look-up/when-known.js';
export { TransactionalPublisher } from './produce/transactional-publisher.js';
export * from './kafkajs/types.js';
