import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import decodeBatch from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import {
  encodeHeaders,
  HOSTILE_NAMES,
  type SentHeader,
} from '../../../test/support/record-headers.js';
import { toRecord } from './committed-messages.js';
import { patchKafkajs } from './kafkajs-patches.js';
import { BatchEncoder, stamp } from './record-batch.js';
import { EncodedHeaders } from './record-headers.js';

const names = ['ce_id', 'ce_type', ...HOSTILE_NAMES];
const value = fc.oneof(fc.constant(null), fc.string(), fc.constant('x'.repeat(200)));
const sent: fc.Arbitrary<SentHeader[]> = fc.array(fc.tuple(fc.constantFrom(...names), value));

/** What a reader must get: all values by name, in the order in which they were sent. */
function valuesOf(headers: readonly SentHeader[]): Map<string, (Buffer | null)[]> {
  const byName = new Map<string, (Buffer | null)[]>();
  for (const [name, given] of headers)
    byName.set(String(name), [
      ...(byName.get(String(name)) ?? []),
      given === null ? null : Buffer.from(given),
    ]);
  return byName;
}

describe('encoded headers', () => {
  it('have all values by name, whatever the names are', () => {
    fc.assert(
      fc.property(sent, (given) => {
        const encoded = encodeHeaders(given);
        const decoded = encoded.decode();
        const found = Object.entries(decoded).map(([name, one]) => [name, [one].flat()]);
        expect(new Map(found as [])).toEqual(valuesOf(given));
        expect(encoded.count).toBe(given.length);
        for (const name of ['ce_id', 'ce_type', 'constructor', '__proto__', '', 'missing']) {
          const last = valuesOf(given).get(name)?.at(-1) ?? undefined;
          expect(encoded.last(name)).toEqual(last);
          expect(encoded.text(name)).toBe(last?.toString());
        }
      }),
    );
  });

  it('decode to an object that has nothing but headers', () => {
    const decoded = encodeHeaders([['a', 'b']]).decode();
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(decoded[name]).toBeUndefined();
      expect(name in decoded).toBe(false);
    }
  });

  it('are read from any bytes, without an error', () => {
    const anyBytes = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(anyBytes, fc.integer({ min: 0, max: 2 ** 31 - 1 }), (bytes, count) => {
        const encoded = new EncodedHeaders(count, bytes, 0);
        encoded.decode();
        encoded.last('a');
        encoded.text('a');
      }),
    );
  });

  it.each([
    ['different', (index: number) => `h${index}`],
    ['equal', () => 'h'],
    ['numeric', (index: number) => String(index * 1_000)],
  ])('of 80,000 %s names take as long as ten times 8,000', (_, nameOf) => {
    /**
     * The CPU time of `reads` reads, in microseconds: the shortest of five measurements, as garbage
     * collection makes some of them longer. Both sides do equal work, because the kernel's division
     * into user and system time is wrong by milliseconds.
     */
    const timeOf = (count: number, reads: number) => {
      const encoded = encodeHeaders(Array.from({ length: count }, (_, at) => [nameOf(at), '']));
      const times = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        for (let read = 0; read < reads; read++) {
          expect([encoded.decode()['h']].flat().length).toBeGreaterThan(0);
          encoded.text('ce_type');
        }
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.min(...times);
    };
    // 10 if each name were compared with all
    expect(timeOf(80_000, 1) / timeOf(8_000, 10)).toBeLessThan(4);
  });
});

describe('a patched record', () => {
  beforeAll(patchKafkajs);

  /** The record that is read after these headers were published. */
  async function published(headers: Record<string, Buffer | Buffer[]>) {
    const encoder = new BatchEncoder();
    encoder.add({ key: 'k', value: 'v', headers });
    const [batch] = encoder.close();
    stamp(batch!, { producerId: '1', producerEpoch: 1 }, 1);
    const { records } = await decodeBatch(new Decoder(batch!.bytes));
    return toRecord(records[0]!);
  }

  it('has the headers that were published, of any names', async () => {
    const headers = Object.fromEntries(
      names.map((name) => [String(name), [Buffer.from('a'), Buffer.from(name)]]),
    );
    const record = await published(headers);
    expect({ ...record.headers }).toEqual(headers);
    expect(record.encodedHeaders?.count).toBe(2 * Object.keys(headers).length);
    expect([record.key, record.value]).toEqual([Buffer.from('k'), Buffer.from('v')]);
  });

  it('has no headers if none were published', async () => {
    const { headers, encodedHeaders } = await published({});
    expect([headers, encodedHeaders?.count]).toEqual([{}, 0]);
  });
});
