import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import decodeByKafkajs from 'kafkajs/src/protocol/recordBatch/record/v0/decoder.js';
import { patchKafkajs } from './kafkajs-patches.js';
import { RecordsDecoder, type BatchContext } from './record-decoder.js';

/** A signed integer of 64 bits as Kafka writes it. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let zigzag = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; zigzag > 0x7fn; zigzag >>= 7n) bytes.push(Number(zigzag & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(zigzag)]);
}

const field = (text: string | null) =>
  text === null
    ? varint(-1n)
    : Buffer.concat([varint(BigInt(Buffer.byteLength(text))), Buffer.from(text)]);

interface Sample {
  readonly time: bigint;
  readonly offset: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly (readonly [name: string, value: string | null])[];
}

function bytesOf({ time, offset, key, value, headers }: Sample): Buffer {
  const body = Buffer.concat([
    ...[Buffer.from([7]), varint(time), varint(BigInt(offset)), field(key), field(value)],
    varint(BigInt(headers.length)),
    ...headers.flatMap(([name, text]) => [field(name), field(text)]),
  ]);
  return Buffer.concat([varint(BigInt(body.length)), body]);
}

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -300n, max: 2n ** 53n }),
  fc.constantFrom(2n ** 48n - 1n, 2n ** 48n, -(2n ** 48n), 2n ** 53n - 1n, 2n ** 53n),
);
const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 200 }));
const samples: fc.Arbitrary<Sample[]> = fc.array(
  fc.record({
    time: fc.oneof(int64, fc.bigInt({ min: -9n, max: 9_000n })),
    offset: fc.nat(2 ** 31 - 1),
    key: text,
    value: text,
    headers: fc.array(fc.tuple(fc.string({ maxLength: 5 }), text), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
);
const contexts: fc.Arbitrary<BatchContext> = fc.record({
  firstOffset: int64.map(String),
  firstTimestamp: int64.map(String),
  maxTimestamp: int64.map(String),
  timestampType: fc.constantFrom(0, 1),
  isControlBatch: fc.boolean(),
  lastOffsetDelta: fc.nat(9),
  producerId: fc.constant('-1'),
  magicByte: fc.constant(2),
});

/** What kafkajs makes of records. */
function byKafkajs(bytes: Buffer, count: number, context: BatchContext) {
  const decoder = new Decoder(bytes);
  return Array.from({ length: count }, () =>
    decodeByKafkajs(new Decoder(decoder.readVarIntBytes()), context),
  );
}

describe('RecordsDecoder', () => {
  beforeAll(patchKafkajs);

  const decoded = (message: object) => {
    const { headers } = message as { headers: { decode(): object } };
    return { ...message, headers: headers.decode() };
  };

  it('decodes what kafkajs decodes, with numbers of any size', () => {
    fc.assert(
      fc.property(samples, contexts, (records, context) => {
        const bytes = Buffer.concat(records.map(bytesOf));
        const decoder = new RecordsDecoder(bytes, context);
        const found = records.map(() => decoder.next());
        expect(found.map(decoded)).toEqual(byKafkajs(bytes, records.length, context).map(decoded));
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses records that end too early, and reads any bytes to an end', () => {
    const [sample] = fc.sample(contexts, 1);
    const context = { ...sample!, firstOffset: '0', firstTimestamp: '1764000000000' };
    const record = bytesOf({ time: 1n, offset: 0, key: 'k', value: 'v', headers: [] });
    for (let end = 0; end < record.length; end++)
      expect(() => new RecordsDecoder(record.subarray(0, end), context).next()).toThrow(RangeError);
    const tooLong = Buffer.from(record);
    tooLong[4] = 40; // the length of the key
    expect(() => new RecordsDecoder(tooLong, context).next()).toThrow(RangeError);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), contexts, (bytes, of) => {
        const decoder = new RecordsDecoder(Buffer.from(bytes), of);
        try {
          for (;;) decoder.next();
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
