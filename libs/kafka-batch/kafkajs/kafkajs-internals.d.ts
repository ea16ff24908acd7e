/** The internals of kafkajs 2.2.4 that this library uses; kafkajs declares no types for them. */
declare module 'kafkajs/src/broker/index.js' {
  import type { IHeaders, RecordBatchEntry } from 'kafkajs';
  export interface RawMessage extends Readonly<Omit<RecordBatchEntry, 'attributes' | 'headers'>> {
    /** Missing in old formats. After `patchKafkajs`, they are EncodedHeaders. */
    readonly headers?: IHeaders;
    isControlRecord: boolean;
    readonly batchContext: {
      readonly producerId: string;
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
  /** A request and how to read its answer. */
  interface ProtocolRequest {
    readonly request: object;
    readonly response: object;
  }
  export default class Broker {
    readonly connectionPool: { send(request: ProtocolRequest): Promise<unknown> };
    constructor(options: { connectionPool: object; logger: object });
    isConnected(): boolean;
    lookupRequest(apiKey: number, definitions: object): (options: object) => ProtocolRequest;
    initProducerId(request: object): Promise<{ producerId: string; producerEpoch: number }>;
    addPartitionsToTxn(request: object): Promise<unknown>;
    addOffsetsToTxn(request: object): Promise<unknown>;
    txnOffsetCommit(request: object): Promise<unknown>;
    endTxn(request: object): Promise<unknown>;
    heartbeat(request: object): Promise<unknown>;
    metadata(topics: readonly string[]): Promise<unknown>;
    offsetFetch(request: object): Promise<unknown>;
    describeConfigs(request: object): Promise<unknown>;
    apiVersions(): Promise<Readonly<Record<number, { readonly maxVersion: number }>>>;
    fetch(request: object): Promise<{
      responses: { topicName: string; partitions: FetchedPartition[] }[];
    }>;
    listOffsets(request: object): Promise<{
      responses: { topic: string; partitions: { partition: number; offset: string }[] }[];
    }>;
  }
}

declare module 'kafkajs/src/cluster/index.js' {
  import type Broker from 'kafkajs/src/broker/index.js';
  export default class Cluster {
    isConnected(): boolean;
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
    refreshMetadata(): Promise<void>;
    refreshMetadataIfNecessary(): Promise<void>;
    findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
    findBroker(node: { nodeId: number }): Promise<Broker>;
    findControllerBroker(): Promise<Broker>;
    findGroupCoordinator(of: { groupId: string; coordinatorType: number }): Promise<Broker>;
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

declare module 'kafkajs/src/network/connectionPool.js' {
  import type { Socket } from 'node:net';
  import type Connection from 'kafkajs/src/network/connection.js';
  export default class ConnectionPool {
    constructor(options: {
      host: string;
      port: number;
      logger: object;
      connectionTimeout: number;
      requestTimeout: number;
      socketFactory: (of: { onConnect: () => void }) => Socket;
    });
    isConnected(): boolean;
    getConnection(): Promise<Connection>;
    destroy(): Promise<void>;
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
  type TopicPartitions = readonly { readonly partitions: readonly number[] }[];
  export default class ConsumerGroup {
    memberId: string | null;
    maxWaitTime: number;
    readonly subscriptionState: Record<'active' | 'paused', () => TopicPartitions>;
    filterPartitionsByNode(nodeId: number, partitions: TopicPartitions): TopicPartitions;
    heartbeat(options: { interval: number }): Promise<void>;
    recoverFromFetch(error: Error): Promise<void>;
  }
}

declare module 'kafkajs/src/consumer/runner.js' {
  import type { Batch, EachBatchHandler } from 'kafkajs';
  import type ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
  import type { RawMessage } from 'kafkajs/src/broker/index.js';
  type RunnerBatch = Batch & {
    readonly rawMessages: readonly RawMessage[];
    readonly unreadable?: Error | undefined;
    isEmptyDueToFiltering(): boolean;
  };
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

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    constructor(bytes: number);
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    writeString(value: string | null): this;
    writeBytes(value: Buffer): this;
  }
}

declare module 'kafkajs/src/protocol/decoder.js' {
  export default class Decoder {
    constructor(bytes: Buffer);
    readonly buffer: Buffer;
    readonly offset: number;
    forward(bytes: number): void;
    readInt16(): number;
    readInt32(): number;
    readInt64(): bigint;
    readString(): string;
    /** null for a length of -1 */
    readBytes(): Buffer | null;
    readVarInt(): number;
    readVarIntBytes(): Buffer;
    readVarIntArray(readOne: (decoder: Decoder) => unknown): object;
    readArray<T>(read: (decoder: Decoder) => T): T[];
    readArrayAsync<T>(read: (decoder: Decoder) => Promise<T>): Promise<T[]>;
  }
}

/** Decodes messages of the formats before Kafka 0.11. */
declare module 'kafkajs/src/protocol/messageSet/decoder.js' {
  import type { RawMessage } from 'kafkajs/src/broker/index.js';
  import type Decoder from 'kafkajs/src/protocol/decoder.js';
  export default function decode(decoder: Decoder, bytes: number): Promise<RawMessage[]>;
}

declare module 'kafkajs/src/protocol/recordBatch/record/v0/decoder.js' {
  import type { RawMessage } from 'kafkajs/src/broker/index.js';
  import type Decoder from 'kafkajs/src/protocol/decoder.js';
  export default function decode(decoder: Decoder, batchContext: object): RawMessage;
}

declare module 'kafkajs/src/protocol/requests/fetch/index.js' {
  interface Fetch {
    readonly response: { decode(response: Buffer): Promise<unknown> };
  }
  const fetch: { protocol: (of: { version: number }) => (options: object) => Fetch };
  export default fetch;
}

declare module 'kafkajs/src/protocol/requests/produce/index.js' {
  const versions: object;
  export default versions;
}

declare module 'kafkajs/src/errors.js' {
  import type { KafkaJSConnectionError } from 'kafkajs';
  type ClosedError = KafkaJSConnectionError & { readonly host: string; readonly port: number };
  const errors: { KafkaJSConnectionClosedError: new (message: string) => ClosedError };
  export default errors;
}

/** Has no types of its own. */
declare module 'crc-32/crc32c.js' {
  const crc32c: { buf(bytes: Uint8Array): number };
  export default crc32c;
}

declare module 'kafkajs/src/producer/partitioners/default/murmur2.js' {
  export default function murmur2(key: string | Buffer): number;
}
