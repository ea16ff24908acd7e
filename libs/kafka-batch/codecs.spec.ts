import { readFileSync } from 'node:fs';
import zlib from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeLz4, decodeSnappy, OversizeError } from './block-decoders.js';
import { decodeZstd, MAX_DECOMPRESSED_BYTES } from './codecs.js';
import { decodeMessages, passOver, unreadableBatch } from './fetch-decoder.js';
import { AT, BatchEncoder } from './record-batch.js';

interface Golden {
  readonly producer: string;
  readonly codec: string;
  readonly batch: string;
}

/** Batches of other clients; the file says how they were made. */
const { batches: GOLDEN } = JSON.parse(
  readFileSync(new URL('compressed-batches.json', import.meta.url), 'utf8'),
) as { batches: readonly Golden[] };
const LINES = Array.from({ length: 1_500 }, (_, i) => {
  return `{"board":"arena","playerId":"p-${(i * 7_919) % 50}","delta":${i % 7}}`;
});
const PLACE = { topic: 't', partition: 3 };

const bytesOf = ({ batch }: Golden) => Buffer.from(batch, 'base64');
const packedOf = (codec: string) =>
  GOLDEN.filter((golden) => golden.codec === codec).map((golden) =>
    bytesOf(golden).subarray(AT.records),
  );

/** A batch of `count` records with the codec's number, and these bytes as its records. */
function batchOf(codec: number, records: Buffer, count = 1): Buffer {
  const encoder = new BatchEncoder();
  encoder.add({ key: null, value: 'x' });
  const head = Buffer.from(encoder.close()[0]!.bytes.subarray(0, AT.records));
  head.writeInt32BE(AT.records + records.length - AT.length - 4, AT.length);
  head.writeInt16BE(codec, AT.attributes);
  head.writeInt32BE(count - 1, AT.lastOffsetDelta);
  head.writeInt32BE(count, AT.count);
  return Buffer.concat([head, records]);
}

it.each(GOLDEN)('reads $codec as $producer writes it', async (golden) => {
  const messages = await decodeMessages(PLACE, bytesOf(golden));
  expect(messages.map(({ value }) => value?.toString())).toEqual(LINES);
  expect(messages.map(({ offset }) => Number(offset))).toEqual(LINES.map((_, index) => index));
  expect(unreadableBatch(messages)).toBeUndefined();
});

it('reads zstd without the zstd of Node', async () => {
  for (const packed of packedOf('zstd')) {
    const bytes = await decodeZstd(packed, MAX_DECOMPRESSED_BYTES);
    expect(bytes.toString()).toContain(LINES.at(-1));
    await expect(decodeZstd(packed, bytes.length - 1)).rejects.toThrow(OversizeError);
    for (const end of [3, 10, packed.length - 1])
      await expect(decodeZstd(packed.subarray(0, end), MAX_DECOMPRESSED_BYTES)).rejects.toThrow();
  }
});

describe('a batch that cannot be read', () => {
  const good = bytesOf(GOLDEN[0]!);
  const zeros = Buffer.alloc(MAX_DECOMPRESSED_BYTES + 1);
  const lz4Bomb = () => {
    const run = Buffer.alloc(300_000, 255);
    const head = Buffer.from('04224d18604000', 'hex');
    const block = Buffer.concat([Buffer.from([0x1f, 0, 1, 0]), run, Buffer.from([0])]);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    return Buffer.concat([head, size, block, Buffer.alloc(4)]);
  };
  const snappyBomb = () =>
    Buffer.concat([
      Buffer.from([0x81, 0x80, 0x80, 0x20, 0, 0]), // 64 MiB and 1 byte, of which the first is a literal
      Buffer.alloc(3 * (MAX_DECOMPRESSED_BYTES / 64), Buffer.from([0xfe, 1, 0])),
    ]);

  it.each([
    [
      'of an unknown codec',
      batchOf(5, good),
      'compressed with codec 5; known are gzip, snappy, lz4, zstd',
    ],
    ['that is no gzip', batchOf(1, Buffer.from('nonsense')), 'compressed with gzip, and broken'],
    ['that is no lz4', batchOf(3, Buffer.from('nonsense')), 'compressed with lz4, and broken'],
    [
      'that is no snappy',
      batchOf(2, Buffer.from('nonsense')),
      'compressed with snappy, and broken',
    ],
    ['that is no zstd', batchOf(4, Buffer.from('nonsense')), 'compressed with zstd, and broken'],
    [
      'of too much gzip',
      batchOf(1, zlib.gzipSync(zeros)),
      'compressed with gzip, and more than 67108864 bytes',
    ],
    ['of too much lz4', batchOf(3, lz4Bomb()), 'compressed with lz4, and more than 67108864 bytes'],
    [
      'of too much snappy',
      batchOf(2, snappyBomb()),
      'compressed with snappy, and more than 67108864 bytes',
    ],
    [
      'of too many records',
      batchOf(1, zlib.gzipSync(Buffer.alloc(2_000_000)), 250_001),
      'compressed, and more than 250000: 250001',
    ],
    [
      'that claims more records than it has bytes',
      batchOf(0, Buffer.alloc(13), 2),
      '2 in 13 bytes, which is impossible',
    ],
    [
      'whose records are no records',
      batchOf(1, zlib.gzipSync(Buffer.alloc(70)), 5),
      'no valid records of Kafka',
    ],
  ])('%s ends the messages before it, and says why', async (_, bad, problem) => {
    const messages = await decodeMessages(PLACE, Buffer.concat([good, bad, good]));
    expect(messages.map(({ value }) => value?.toString())).toEqual(LINES);
    const error = unreadableBatch(await decodeMessages(PLACE, Buffer.concat([bad, good])));
    expect(error?.message).toContain(`t/3 cannot be read from offset 0 to `);
    expect(error?.message).toContain(`these records are ${problem}`);
  });

  it('is passed over once it was given up, also by a reader that can read it', async () => {
    const place = { topic: 'given-up', partition: 0 };
    passOver([{ ...place, first: 0, last: 1_498 }]); // not the offsets of the batch
    expect(await decodeMessages(place, good)).toHaveLength(1_500);
    passOver([{ ...place, first: 0, last: 1_499 }]);
    expect(await decodeMessages(place, good)).toMatchObject([
      { offset: '1499', isControlRecord: true, batchContext: { producerId: '-1' } },
    ]);
    expect(await decodeMessages({ ...place, partition: 1 }, good)).toHaveLength(1_500);
  });

  it('leaves many decompressed bytes for the next fetch', async () => {
    const value = Buffer.alloc(9 * 1_024 * 1_024);
    const encoder = new BatchEncoder();
    encoder.add({ key: null, value });
    const records = encoder.close()[0]!.bytes.subarray(AT.records);
    const batch = batchOf(1, zlib.gzipSync(records));
    const messages = await decodeMessages(PLACE, Buffer.concat([batch, batch, batch, batch]));
    expect(messages).toHaveLength(2);
  });
});

describe('a decoder of compressed blocks', () => {
  const most = 100_000;
  const decoders = { lz4: decodeLz4, snappy: decodeSnappy, zstd: decodeZstd };
  const bytes = fc.uint8Array({ maxLength: 300 }).map((text) => Buffer.from(text));
  const change = fc.record({ at: fc.nat(), byte: fc.nat(255), removes: fc.nat(3) });

  it.each(['lz4', 'snappy', 'zstd'] as const)(
    'of %s ends within its limit on any bytes',
    async (name) => {
      const originals = packedOf(name);
      const changed = fc
        .tuple(fc.constantFrom(...originals), fc.array(change, { minLength: 1, maxLength: 5 }))
        .map(([original, changes]) => {
          let input = Buffer.from(original);
          for (const { at, byte, removes } of changes) {
            const begin = at % input.length;
            const rest = input.subarray(Math.min(input.length, begin + removes));
            input = Buffer.concat([input.subarray(0, begin), Buffer.from([byte]), rest]);
          }
          return input;
        });
      const runs = name === 'zstd' ? 300 : 3_000;
      await fc.assert(
        fc.asyncProperty(fc.oneof(bytes, changed), async (input) => {
          const begin = process.cpuUsage();
          const output = await Promise.resolve()
            .then(() => decoders[name](input, most))
            .catch((error: unknown) => Buffer.alloc(String(error).length)); // says why
          expect(output.length).toBeLessThanOrEqual(most);
          expect(process.cpuUsage(begin).user).toBeLessThan(1_000_000);
        }),
        { numRuns: runs },
      );
    },
  );
});
