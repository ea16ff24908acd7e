export * from './errors.js';
export { OnPartitionAssigned, OnPartitionReleased, OnRecordBatch } from './handlers.js';
export { KafkaBatchServer, type KafkaBatchServerOptions } from './kafka-batch-server.js';
export { kafkaLogCreator } from './kafka-logger.js';
export { lastCommittedRecord } from './last-committed-record.js';
export type { PartitionState } from './partition-worker.js';
export * from './positions.js';
export * from './transactional-publisher.js';
export * from './types.js';
