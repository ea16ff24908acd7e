/** The parts of kafkajs 2.2.4 that connection-patches.ts reaches into. */
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

declare module 'kafkajs/src/cluster/index.js' {
  import type { RetryOptions } from 'kafkajs';
  export default class Cluster {
    retry?: RetryOptions;
    findGroupCoordinatorMetadata(asked: object): Promise<unknown>;
    fetchTopicsOffset(topics: readonly { topic: string }[]): Promise<{ topic: string }[]>;
  }
}
