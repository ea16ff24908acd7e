export { Backoff } from './backoff.js';
export { Batched } from './batched.js';
export type { ConsumerHealth, PartitionHealth } from './batch-consumer.js';
export * from './errors.js';
export { kafkaLogCreator } from './kafka-logger.js';
export { patchKafkajs } from './kafkajs-patches.js';
export {
  lastCommittedRecord,
  lookAt,
  recordAt,
  type PartitionLook,
} from './last-committed-record.js';
export type { LogBatch } from './log-batch.js';
export { LogReader, type LogReaderOptions } from './log-reader.js';
export { LOOKS, type PartitionState } from './partition-worker.js';
export * from './positions.js';
export * from './transactional-publisher.js';
export * from './types.js';
