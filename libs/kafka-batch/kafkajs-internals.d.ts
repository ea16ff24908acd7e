/** The parts of kafkajs 2.2.4 that we reach into: last-committed-record.ts (it has no reader without a group), and a spec. */
declare module 'kafkajs/src/consumer/filterAbortedMessages.js' {
  export interface RawMessage {
    offset: string;
    timestamp: string;
    key: Buffer | null;
    value: Buffer | null;
    headers: Record<string, Buffer | string | (Buffer | string)[] | undefined>;
    isControlRecord: boolean;
  }
  const filterAbortedMessages: (fetched: {
    messages: RawMessage[];
    abortedTransactions?: { firstOffset: string; producerId: string }[];
  }) => RawMessage[];
  export default filterAbortedMessages;
}

declare module 'kafkajs/src/protocol/error.js' {
  import type { KafkaJSProtocolError } from 'kafkajs';
  const errors: { createErrorFromCode(code: number): KafkaJSProtocolError };
  export default errors;
}
