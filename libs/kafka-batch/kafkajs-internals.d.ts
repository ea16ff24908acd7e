/** The parts of kafkajs 2.2.4 that last-committed-record.ts reaches into: it has no reader without a group. */
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
