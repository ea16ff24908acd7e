/** The internals of kafkajs 2.2.4 that only tests use. */
declare module 'kafkajs/src/consumer/batch.js' {
  import type { Batch } from 'kafkajs';
  import type { RawMessage } from 'kafkajs/src/broker/index.js';
  const FilteredBatch: new (
    topic: string,
    fetchedOffset: string,
    found: object,
  ) => Batch & {
    readonly rawMessages: readonly RawMessage[];
    isEmptyDueToFiltering(): boolean;
  };
  export default FilteredBatch;
}

declare module 'kafkajs/src/protocol/recordBatch/v0/decoder.js' {
  import type { RawMessage } from 'kafkajs/src/broker/index.js';
  const decode: (decoder: object) => Promise<{ records: RawMessage[] }>;
  export default decode;
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C/index.js' {
  const crc32C: (bytes: Buffer) => number;
  export default crc32C;
}

declare module 'kafkajs/src/protocol/messageSet/index.js' {
  const encode: (set: { compression: 0; entries: object[] }) => {
    readonly buffer: Buffer;
  };
  export default encode;
}
