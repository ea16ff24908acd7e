import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sendChunks } from './send-chunks.js';

const message = fc.record({
  key: fc.option(fc.string({ maxLength: 20 }), { nil: null }),
  value: fc.oneof(
    fc.constant(null),
    fc.string({ maxLength: 200 }),
    fc.nat(700_000).map((length) => Buffer.alloc(length)),
  ),
});

describe('sendChunks', () => {
  it('keeps all messages in order, and limits chunks of several messages to 512 KiB', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const chunks = sendChunks(messages);
        expect(chunks.flat()).toEqual(messages);
        for (const chunk of chunks) {
          const bytes = chunk.reduce(
            (sum, { value }) => sum + (value === null ? 0 : Buffer.byteLength(value)),
            0,
          );
          expect(chunk.length === 1 || bytes <= 512 * 1_024).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('limits chunks to 2,000 messages', () => {
    const chunks = sendChunks(Array.from({ length: 4_500 }, () => ({ value: 'x' })));
    expect(chunks.map((chunk) => chunk.length)).toEqual([2_000, 2_000, 500]);
  });
});
