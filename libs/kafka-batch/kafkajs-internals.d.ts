/** The internals of kafkajs 2.2.4 that this library uses; kafkajs declares no types for them. */
declare module 'kafkajs/src/broker/index.js' {
  export interface RawMessage {
    readonly offset: string;
    readonly timestamp: string;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly headers: Record<string, Buffer | string | (Buffer | string)[] | undefined>;
    isControlRecord: boolean;
    readonly batchContext: {
      readonly producerId: string;
      readonly inTransaction: boolean;
      /** The first offset of the record's batch; missing in old formats. */
      readonly firstOffset?: string;
      readonly lastOffsetDelta?: number;
    };
  }
  export interface FetchedPartition {
    readonly partition: number;
    readonly messages: RawMessage[];
    /** The aborted transactions that overlap with the messages, unordered. */
    abortedTransactions?: readonly { producerId: string; firstOffset: string }[] | null;
  }
  export interface FetchResponse {
    readonly responses: { readonly topicName: string; readonly partitions: FetchedPartition[] }[];
  }
  export default class Broker {
    fetch(request: object): Promise<FetchResponse>;
    listOffsets(request: object): Promise<{
      responses: { topic: string; partitions: { partition: number; offset: string }[] }[];
    }>;
  }
}

declare module 'kafkajs/src/cluster/index.js' {
  import type { RetryOptions } from 'kafkajs';
  import type Broker from 'kafkajs/src/broker/index.js';
  export default class Cluster {
    retry?: RetryOptions;
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
    refreshMetadata(): Promise<void>;
    findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
    findBroker(node: { nodeId: number }): Promise<Broker>;
    findGroupCoordinatorMetadata(group: object): Promise<unknown>;
    fetchTopicsOffset(topics: readonly { topic: string }[]): Promise<{ topic: string }[]>;
  }
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  export default class Connection {
    chunks: Buffer[];
    bytesBuffered: number;
    bytesNeeded: number;
    readonly broker: string;
    readonly socket?: Socket;
    isConnected(): boolean;
    connect(): Promise<unknown>;
    disconnect(): Promise<unknown>;
    rejectRequests(error: Error): void;
    send(request: object): Promise<unknown>;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    constructor(options: object);
    readonly pending: readonly object[];
    readonly throttledUntil: number;
    throttleCheckTimeoutId: NodeJS.Timeout | null;
    push(request: object): void;
    fulfillRequest(response: { correlationId: number; payload: object; size: number }): void;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
    maybeThrottle(ms: number): void;
    destroy(): void;
  }
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  export default class ConsumerGroup {
    memberId: string | null;
    heartbeat(options: { interval: number }): Promise<void>;
    recoverFromFetch(error: Error): Promise<void>;
  }
}

declare module 'kafkajs/src/consumer/batch.js' {
  import type { Batch } from 'kafkajs';
  const FilteredBatch: new (
    topic: string,
    fetchedOffset: string,
    found: object,
  ) => Batch & { isEmptyDueToFiltering(): boolean };
  export default FilteredBatch;
}

declare module 'kafkajs/src/consumer/runner.js' {
  import type { EachBatchHandler } from 'kafkajs';
  import type FilteredBatch from 'kafkajs/src/consumer/batch.js';
  import type ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
  type RunnerBatch = InstanceType<typeof FilteredBatch>;
  export default class Runner {
    constructor(options: object);
    running: boolean;
    readonly consumerGroup: ConsumerGroup;
    readonly eachBatch: EachBatchHandler | null;
    fetch(nodeId: number): Promise<RunnerBatch[]>;
    handleBatch(batch: RunnerBatch): Promise<void>;
    processEachBatch(batch: RunnerBatch): Promise<void>;
    heartbeat(): Promise<void>;
  }
}

declare module 'kafkajs/src/consumer/offsetManager/index.js' {
  interface TopicOffsets {
    readonly topic: string;
    readonly partitions: { readonly partition: number; readonly offset?: string }[];
    readonly fromBeginning?: boolean | undefined;
  }
  export default class OffsetManager {
    readonly topicConfigurations: Record<string, { readonly fromBeginning?: boolean }>;
    readonly resolvedOffsets: Record<string, Record<number, string>>;
    readonly cluster: { fetchTopicsOffset(topics: TopicOffsets[]): Promise<TopicOffsets[]> };
    setDefaultOffset(of: { topic: string; partition: number }): Promise<void>;
  }
}

declare module 'kafkajs/src/protocol/error.js' {
  import type { KafkaJSProtocolError } from 'kafkajs';
  const errors: { createErrorFromCode(code: number): KafkaJSProtocolError };
  export default errors;
}
