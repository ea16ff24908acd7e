import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import {
  LogGapError,
  LogReader,
  logRanges,
  UnreadableBatchError,
  type LogBatch,
  type LogReaderOptions,
} from '#kafka-batch';
import { until } from '../support/instance.js';
import { transactionsEnded } from '../support/kafka-client.js';
import { seededRandom } from '../support/seeded-random.js';
import { writeInterleaved } from './interleaved.js';
import { numbers, TestTopic } from './topic.js';

type From = Readonly<Record<number, number>>;

const startAt = (from: From) =>
  new Map(Object.entries(from).map(([partition, offset]) => [Number(partition), offset]));
const valuesOf = (batches: readonly LogBatch[], of = 0) =>
  batches
    .filter(({ partition }) => partition === of)
    .flatMap(({ records }) => records.map(({ value }) => value?.toString()));
const only = (...wanted: number[]): ReadonlySet<number> => new Set(wanted);

describe('a log reader', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(3);
  });
  afterEach(() => topic.remove());

  const open = async (from: From, options: Partial<LogReaderOptions> = {}): Promise<LogReader> => {
    const { kafka, name } = topic;
    const reader = await LogReader.open({ kafka, topic: name, from: startAt(from), ...options });
    topic.onRemove(() => reader.close());
    return reader;
  };
  /** Fetches until a fetch returns something. */
  const readSome = async (reader: LogReader, wanted?: ReadonlySet<number>) => {
    let batches: LogBatch[] = [];
    await until(async () => {
      batches = await reader.fetch(wanted);
      return batches.length > 0;
    }, 'something is read');
    return batches;
  };
  /** Reads until the positions are at the ends of the log. */
  const readAll = async (reader: LogReader): Promise<LogBatch[]> => {
    const batches: LogBatch[] = [];
    const ranges = await logRanges(topic.kafka, topic.name);
    await until(async () => {
      batches.push(...(await reader.fetch()));
      return [...reader.positions].every(([partition, at]) => at === ranges.get(partition)?.end);
    }, 'all is read');
    return batches;
  };

  it('reads several partitions from their offsets, in order, and then new records', async () => {
    for (const partition of [0, 1, 2]) await topic.send(partition, numbers(0, 100));
    // A broker returns the whole batch that contains offset 40
    const reader = await open({ 0: 0, 1: 40, 2: 100 });
    const batches = await readAll(reader);
    expect([0, 1, 2].map((partition) => valuesOf(batches, partition))).toEqual([
      numbers(0, 100),
      numbers(40, 100),
      [],
    ]);
    expect(batches.find(({ partition }) => partition === 1)?.records[0]?.offset).toBe(40);
    await topic.send(2, ['later']);
    expect(valuesOf(await readAll(reader), 2)).toEqual(['later']);
    expect(reader.positions).toEqual(startAt({ 0: 100, 1: 100, 2: 101 }));
  });

  it('skips an unwanted partition, and continues it later', async () => {
    for (const partition of [0, 1]) await topic.send(partition, numbers(0, 10));
    const reader = await open({ 0: 0, 1: 0 });
    expect(await readSome(reader, only(1))).toMatchObject([{ partition: 1, nextOffset: 10 }]);
    expect(reader.positions.get(0)).toBe(0);
    expect(valuesOf(await readAll(reader))).toEqual(numbers(0, 10));
  });

  it.each([
    ['there is no record', only(1)],
    ['no partition is wanted', only()],
  ])('waits a little if %s, so that a loop does not spin', async (_, wanted) => {
    await topic.send(0, ['a']);
    const reader = await open({ 0: 0, 1: 0 });
    const started = performance.now();
    expect(await reader.fetch(wanted)).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(150);
  });

  it('moves on over more aborted records than fit in a response', async () => {
    const large = ['x', 'y', 'z'].map((text) => text.repeat(900_000));
    await topic.transact(large, 'abort');
    await topic.send(0, ['after']);
    expect(valuesOf(await readAll(await open({ 0: 0 })))).toEqual(['after']);
  });

  it('leaves the event loop free when it is closed while no request is under way', async () => {
    const reader = await open({ 0: 0 });
    const waiting = expect(reader.fetch(only())).rejects.toThrow('the log reader was closed');
    const begun = process.cpuUsage();
    await Promise.all([waiting, reader.close(), nextTurn()]);
    // A loop until the fetch is over would take 200 ms
    expect(process.cpuUsage(begun).user).toBeLessThan(50_000);
  });

  it('does not read beyond an open transaction', async () => {
    await topic.send(0, ['before']);
    const transaction = await (await topic.transactional()).transaction();
    await transaction.send({ topic: topic.name, messages: [{ partition: 0, value: 'open' }] });
    await topic.send(0, ['behind']);
    const reader = await open({ 0: 0 });
    expect(valuesOf(await readSome(reader))).toEqual(['before']);
    expect(await reader.fetch()).toEqual([]);
    await transaction.commit();
    await transactionsEnded(topic.kafka, topic.name);
    expect(valuesOf(await readAll(reader))).toEqual(['open', 'behind']);
  });

  it('returns the committed records of interleaved transactions, in large and small responses, from many offsets', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const message = (step: number) => ({ value: String(step) });
    const committed = await writeInterleaved(topic, { message, steps: 60, random });
    for (const maxBytesPerPartition of [1, 300, 2_000, 1_048_576]) {
      const batches = await readAll(await open({ 0: 0 }, { maxBytesPerPartition }));
      expect(valuesOf(batches)).toEqual(committed.map(String));
    }
    const recordsFrom = async (from: number) =>
      (await readAll(await open({ 0: from }))).flatMap(({ records }) => records);
    const all = await recordsFrom(0);
    const end = (await logRanges(topic.kafka, topic.name)).get(0)?.end ?? 0;
    for (let from = 0; from <= end; from += 7)
      expect(await recordsFrom(from)).toEqual(all.filter(({ offset }) => offset >= from));
  });

  it('reads records that are larger than maxBytesPerPartition, in several partitions', async () => {
    const large = ['1', '2'].map((text) => text + 'x'.repeat(900_000));
    for (const partition of [0, 1]) for (const value of large) await topic.send(partition, [value]);
    const batches = await readAll(await open({ 0: 0, 1: 0 }, { maxBytesPerPartition: 10_000 }));
    for (const partition of [0, 1]) expect(valuesOf(batches, partition)).toEqual(large);
  });

  it('reads gzip, also from the middle of a batch', async () => {
    const messages = numbers(0, 100).map((value) => ({ partition: 0, value }));
    await topic.produce(messages, kafkajs.CompressionTypes.GZIP);
    expect(valuesOf(await readAll(await open({ 0: 70 })))).toEqual(numbers(70, 100));
  });

  it.each(['snappy', 'lz4', 'zstd'])('reads %s, also from the middle of a batch', async (codec) => {
    const packed = await TestTopic.create(1, { 'compression.type': codec });
    topic.onRemove(() => packed.remove());
    await packed.send(0, numbers(0, 100));
    const reader = await open({ 0: 70 }, { topic: packed.name });
    expect(valuesOf(await readSome(reader))).toEqual(numbers(70, 100));
  });

  it('names the offsets of a batch that it cannot read, after the records before it', async () => {
    await topic.send(0, ['a', 'b']);
    await topic.sendTooLarge(0);
    const reader = await open({ 0: 0 });
    expect(valuesOf(await readSome(reader))).toEqual(['a', 'b']);
    await expect(readSome(reader)).rejects.toMatchObject({
      constructor: UnreadableBatchError,
      batch: { topic: topic.name, partition: 0, first: 2, last: 2 },
    });
  });

  it('reports a log that begins after its position, or ends before it, and keeps its position', async () => {
    for (const partition of [0, 1]) await topic.send(partition, numbers(0, 10));
    await topic.cut(0, 8);
    const reader = await open({ 0: 2, 1: 0 });
    await expect(readSome(reader)).rejects.toMatchObject({
      constructor: LogGapError,
      topic: topic.name,
      partition: 0,
      expected: 2,
      log: { start: 8, end: 10 },
    });
    expect(reader.positions).toEqual(startAt({ 0: 2, 1: 0 }));
    const beyond = await open({ 1: 11 });
    const gap = { expected: 11, log: { start: 0, end: 10 } };
    await expect(readSome(beyond)).rejects.toMatchObject(gap);
  });
});
