import { readFileSync } from 'node:fs';
import zlib from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import Broker from 'kafkajs/src/broker/index.js';
import encodeMessageSet from 'kafkajs/src/protocol/messageSet/index.js';
import { decodeLz4, decodeSnappy, OversizeError } from './block-decoders.js';
import { decodeZstd, MAX_DECOMPRESSED_BYTES } from './codecs.js';
import { decodeFetch, decodeMessages, passOver, unreadableBatch } from './fetch-decoder.js';
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
const LOGGER = { namespace: () => LOGGER, debug: () => undefined };

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
      // 64 MiB and 1 byte, of which the first is a literal
      Buffer.from([0x81, 0x80, 0x80, 0x20, 0, 0]),
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
    const crc = good.readUInt32BE(AT.crc);
    passOver([{ ...place, first: 0, last: 1_498, crc }]); // not the offsets of the batch
    passOver([{ ...place, first: 0, last: 1_499, crc: crc + 1 }]); // of a topic that was recreated
    expect(await decodeMessages(place, good)).toHaveLength(1_500);
    passOver([{ ...place, first: 0, last: 1_499, crc }]);
    expect(await decodeMessages(place, good)).toMatchObject([
      { offset: '1499', isControlRecord: true, batchContext: { producerId: '-1' } },
    ]);
    expect(await decodeMessages({ ...place, partition: 1 }, good)).toHaveLength(1_500);
  });

  it('of a format before Kafka 0.11 ends the messages before it, too', async () => {
    const old = encodeMessageSet({ compression: 0, entries: [{ key: null, value: 'old' }] }).buffer;
    const bad = Buffer.from(old);
    bad.writeInt8(1, AT.magic + 1); // the value is said to be gzip
    const messages = await decodeMessages(PLACE, Buffer.concat([old, good, bad, good]));
    expect(messages.map(({ value }) => value?.toString())).toEqual(['old', ...LINES]);
    expect(messages[0]?.timestamp).toBe('-1'); // the oldest format has none
    const found = await decodeMessages(PLACE, Buffer.concat([bad, good]));
    expect(unreadableBatch(found)?.message).toContain('no message of Kafka that can be read');
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

it('a fetch fails, and can be tried again, if memory is missing: no batch is marked', async () => {
  const batch = bytesOf(GOLDEN.find(({ codec }) => codec === 'lz4')!);
  const allocUnsafe = jest.spyOn(Buffer, 'allocUnsafe').mockImplementation(() => {
    throw new Error('out of memory');
  });
  const failure = await decodeMessages(PLACE, batch).catch((error: unknown) => error);
  allocUnsafe.mockRestore();
  expect(failure).toMatchObject({ name: 'KafkaJSError', retriable: true });
  expect(await decodeMessages(PLACE, batch)).toHaveLength(LINES.length);
});

describe('small batches of many records', () => {
  // Its size, and 6 bytes without key, value and headers
  const EMPTY_RECORD = Buffer.from([12, 0, 0, 0, 1, 1, 0]);
  const small = (count: number) =>
    batchOf(1, zlib.gzipSync(Buffer.alloc(7 * count, EMPTY_RECORD)), count);
  const int = (bytes: number, value: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(value, bytes === 8 ? 2 : 0, Math.min(bytes, 6));
    return buffer;
  };
  /** The answer to a fetch of version 11: its partitions, in this order, have these batches. */
  const answer = (partitions: ReadonlyMap<number, readonly Buffer[]>) => {
    const parts = [...partitions].map(([partition, batches]) => {
      const bytes = Buffer.concat(batches);
      const head = [int(4, partition), int(2, 0), ...[100, 100, 0].map((offset) => int(8, offset))];
      return Buffer.concat([...head, int(4, 0), int(4, -1), int(4, bytes.length), bytes]);
    });
    const topic = [int(2, 1), Buffer.from('t'), int(4, parts.length), ...parts];
    return Buffer.concat([int(4, 0), int(2, 0), int(4, 0), int(4, 1), ...topic]);
  };
  const decodedOf = async (partitions: ReadonlyMap<number, readonly Buffer[]>) =>
    (await decodeFetch(11, answer(partitions))).responses.flatMap((topic) => topic.partitions);

  it('are left for the next fetch once a partition has 50,000 records', async () => {
    const batch = small(30_000);
    expect(await decodeMessages(PLACE, Buffer.concat(Array(9).fill(batch)))).toHaveLength(60_000);
  });

  it('take at most about 200,000 records of a whole response, and mark no partition', async () => {
    const batches = Array<Buffer>(9).fill(small(30_000));
    const partitions = await decodedOf(new Map([0, 1, 2, 3, 4, 5].map((n) => [n, batches])));
    const counts = partitions.map(({ partition, messages }) => [partition, messages.length]);
    const full = [0, 1, 2].map((partition) => [partition, 60_000]);
    expect(counts).toEqual([...full, [3, 30_000], [4, 0], [5, 0]]);
    for (const { messages } of partitions) expect(unreadableBatch(messages)).toBeUndefined();
  });

  it('starve no other partition: kafkajs asks for the partitions in another order each time', async () => {
    const batches = new Map(
      [0, 1, 2, 3, 4, 5].map((n) => [n, Array<Buffer>(2).fill(small(60_000))]),
    );
    const open = new Set(batches.keys());
    const broker = new Broker({
      connectionPool: {
        send: async ({
          request,
        }: {
          request: { topics: { partitions: { partition: number }[] }[] };
        }) => {
          const asked = request.topics.flatMap(({ partitions }) => partitions);
          const found = asked.map(({ partition }) => [partition, batches.get(partition)!] as const);
          return decodeFetch(11, answer(new Map(found)));
        },
      },
      logger: LOGGER,
    });
    broker.lookupRequest = () => (request) => ({ request, response: {} });
    const topics = [{ topic: 't', partitions: [...open].map((partition) => ({ partition })) }];
    for (let fetch = 0; open.size > 0; fetch++) {
      expect(fetch).toBeLessThan(50); // a partition is left out of a third of the fetches
      const { responses } = await broker.fetch({ topics });
      for (const { partition, messages } of responses.flatMap(({ partitions }) => partitions))
        if (messages.length > 0) open.delete(partition);
    }
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
