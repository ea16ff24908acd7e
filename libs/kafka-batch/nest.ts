/** The transport for Nest. Apart from the index, as loading Nest takes longer than most commands run. */
export { OnPartitionAssigned, OnPartitionReleased, OnRecordBatch } from './handlers.js';
export { KafkaBatchServer, type KafkaBatchServerOptions } from './kafka-batch-server.js';
