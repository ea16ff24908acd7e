import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type Message } from 'kafkajs';
import {
  LogGapError,
  LogReader,
  logRanges,
  offsetsAtTime,
  type LogBatch,
  type LogReaderOptions,
} from '#kafka-batch';
import { until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { transactionsEnded } from '../support/transactions.js';
import { transactional } from './collector.js';
import { writeInterleaved } from './interleaved.js';
import { numbers, TestTopic } from './topic.js';

const valuesOf = (batches: readonly LogBatch[], of = 0) =>
  batches
    .filter(({ partition }) => partition === of)
    .flatMap(({ records }) => records.map(({ value }) => value?.toString()));

describe('a log reader', () => {
  let topic: TestTopic;
  const readers: LogReader[] = [];
  beforeEach(async () => {
    topic = await TestTopic.create(3);
  });
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.close()));
    await topic.remove();
  });

  const open = async (
    from: readonly (readonly [partition: number, offset: number])[],
    options: Partial<LogReaderOptions> = {},
  ): Promise<LogReader> => {
    const reader = await LogReader.open({
      kafka: topic.kafka,
      topic: topic.name,
      from: new Map(from),
      ...options,
    });
    readers.push(reader);
    return reader;
  };
  const ends = async () =>
    new Map([...(await logRanges(topic.admin, topic.name))].map(([p, { end }]) => [p, end]));
  /** Rounds until one brings something. */
  const readSome = async (reader: LogReader, wanted?: (partition: number) => boolean) => {
    let batches: LogBatch[] = [];
    const isThere = async () => {
      batches = await reader.fetch(wanted);
      return batches.length > 0;
    };
    await until(isThere, 'something is read');
    return batches;
  };
  /** All rounds until the positions are at the ends of the log. */
  const readAll = async (reader: LogReader): Promise<LogBatch[]> => {
    const batches: LogBatch[] = [];
    const goal = await ends();
    await until(async () => {
      batches.push(...(await reader.fetch()));
      return [...reader.positions].every(([partition, at]) => at === goal.get(partition));
    }, 'all is read');
    return batches;
  };
  const produce = async (messages: readonly Message[]) => {
    const producer = topic.kafka.producer();
    await producer.connect();
    await producer.send({ topic: topic.name, messages: [...messages] });
    await producer.disconnect();
  };
  const transaction = async (values: readonly string[], end: 'commit' | 'abort') => {
    const producer = await transactional(topic.kafka, topic.name);
    const open = await producer.transaction();
    for (const value of values)
      await open.send({ topic: topic.name, messages: [{ partition: 0, value }] });
    await open[end]();
    await producer.disconnect();
    await transactionsEnded(topic.kafka, topic.name);
  };

  it('gives all partitions from their offsets, in order, and then what comes', async () => {
    for (const partition of [0, 1, 2]) await topic.send(partition, numbers(0, 100));
    const reader = await open([
      [0, 0],
      [1, 40], // in the middle of a batch: a broker gives all of it
      [2, 100],
    ]);
    const batches = await readAll(reader);
    expect([0, 1, 2].map((partition) => valuesOf(batches, partition))).toEqual([
      numbers(0, 100),
      numbers(40, 100),
      [],
    ]);
    expect(batches[0]?.records[0]?.offset).toBe(batches[0]?.partition === 0 ? 0 : 40);
    await topic.send(2, ['later']);
    expect(valuesOf(await readAll(reader), 2)).toEqual(['later']);
    expect(reader.positions).toEqual(
      new Map([
        [0, 100],
        [1, 100],
        [2, 101],
      ]),
    );
  });

  it('gives a record as it was written, and only partitions that it was told', async () => {
    await topic.send(1, ['not asked for']);
    const headers = { ce_id: 'x' };
    await produce([{ partition: 0, key: 'k', value: 'v', headers, timestamp: '1700000000000' }]);
    await produce([{ partition: 0, value: null }]);
    const reader = await open([[0, 0]]);
    const batches = await readAll(reader);
    expect(batches.flatMap(({ records }) => records)).toMatchObject([
      {
        offset: 0,
        timestamp: 1_700_000_000_000,
        key: Buffer.from('k'),
        value: Buffer.from('v'),
        headers: { ce_id: Buffer.from('x') },
      },
      { offset: 1, key: null, value: null },
    ]);
  });

  it('leaves a partition out that is not wanted, and goes on with it where it was', async () => {
    for (const partition of [0, 1]) await topic.send(partition, numbers(0, 10));
    const reader = await open([
      [0, 0],
      [1, 0],
    ]);
    const first = await readSome(reader, (partition) => partition === 1);
    expect(first).toMatchObject([{ partition: 1, nextOffset: 10 }]);
    expect(reader.positions.get(0)).toBe(0);
    expect(valuesOf(await readAll(reader))).toEqual(numbers(0, 10));
  });

  it('waits a little when there is nothing, or nothing is wanted, so that a loop does not spin', async () => {
    await topic.send(0, ['a']);
    const reader = await open([
      [0, 0],
      [1, 0],
    ]);
    const timed = async (wanted: (partition: number) => boolean) => {
      const started = performance.now();
      const batches = await reader.fetch(wanted);
      return [batches.length, performance.now() - started > 150];
    };
    expect(await timed((partition) => partition === 1)).toEqual([0, true]);
    expect(await timed(() => false)).toEqual([0, true]);
  });

  it('refuses two rounds at a time, and lets the next one go on while the last is worked on', async () => {
    await topic.send(0, ['a']);
    const reader = await open([[0, 0]]);
    const first = reader.fetch();
    await expect(reader.fetch()).rejects.toThrow(/one round at a time/);
    const begun = await first;
    const next = reader.fetch();
    await topic.send(0, ['b']);
    const batches = [...begun, ...(await next), ...(await readAll(reader))];
    expect(valuesOf(batches)).toEqual(['a', 'b']);
  });

  it('leaves out aborted transactions and the ends of transactions, and moves on behind them', async () => {
    await topic.send(0, ['before']);
    await transaction(['never'], 'abort');
    await transaction(['once'], 'commit');
    await transaction(['never'], 'abort');
    const reader = await open([[0, 0]]);
    const batches = await readAll(reader);
    expect(valuesOf(batches)).toEqual(['before', 'once']);
    expect(batches.at(-1)?.nextOffset).toBe(7); // three ends of transactions, two aborted records
    await topic.send(0, ['after']);
    expect(await readAll(reader)).toMatchObject([
      { records: [{ offset: 7, value: Buffer.from('after') }], nextOffset: 8 },
    ]);
  });

  it('moves on over more aborted records than fit in an answer', async () => {
    await transaction(
      ['x', 'y', 'z'].map((text) => text.repeat(900_000)),
      'abort',
    );
    await topic.send(0, ['after']);
    const reader = await open([[0, 0]]);
    expect(valuesOf(await readAll(reader))).toEqual(['after']);
  });

  it('does not read into a transaction that is open', async () => {
    await topic.send(0, ['before']);
    const producer = await transactional(topic.kafka, topic.name);
    const open_ = await producer.transaction();
    await open_.send({ topic: topic.name, messages: [{ partition: 0, value: 'open' }] });
    await topic.send(0, ['behind it']);
    const reader = await open([[0, 0]]);
    expect(valuesOf(await readSome(reader))).toEqual(['before']);
    expect(await reader.fetch()).toEqual([]);
    await open_.commit();
    await transactionsEnded(topic.kafka, topic.name);
    expect(valuesOf(await readAll(reader))).toEqual(['open', 'behind it']);
    await producer.disconnect();
  });

  it('gives the committed records of transactions that interleave, in answers of any size', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const message = (count: number) => ({ value: String(count) });
    const committed = await writeInterleaved(topic, { message, steps: 60, random });
    for (const maxBytesPerPartition of [1, 300, 2_000, 1_048_576]) {
      const reader = await open([[0, 0]], { maxBytesPerPartition });
      expect(valuesOf(await readAll(reader))).toEqual(committed.map(String));
    }
  });

  it('begins anywhere among transactions that interleave', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    await writeInterleaved(topic, {
      message: (count) => ({ value: String(count) }),
      steps: 40,
      random,
    });
    const all = (await readAll(await open([[0, 0]]))).flatMap(({ records }) => records);
    const end = (await ends()).get(0) ?? 0;
    for (let from = 0; from <= end; from += 7) {
      const records = (await readAll(await open([[0, from]]))).flatMap(({ records: of }) => of);
      expect(records).toEqual(all.filter(({ offset }) => offset >= from));
    }
  });

  it('reads records that are larger than it takes at once, in several partitions', async () => {
    const large = 'x'.repeat(900_000);
    for (const partition of [0, 1]) {
      await topic.send(partition, [`1${large}`]);
      await topic.send(partition, [`2${large}`]);
    }
    const reader = await open(
      [
        [0, 0],
        [1, 0],
      ],
      { maxBytesPerPartition: 10_000 },
    );
    const batches = await readAll(reader);
    for (const partition of [0, 1])
      expect(valuesOf(batches, partition)).toEqual([`1${large}`, `2${large}`]);
  });

  it('reads what is compressed, from the middle of a batch, too', async () => {
    const producer = topic.kafka.producer();
    await producer.connect();
    await producer.send({
      topic: topic.name,
      compression: kafkajs.CompressionTypes.GZIP,
      messages: numbers(0, 100).map((value) => ({ partition: 0, value })),
    });
    await producer.disconnect();
    expect(valuesOf(await readAll(await open([[0, 70]])))).toEqual(numbers(70, 100));
  });

  it('names the codec of records that it cannot read', async () => {
    const packed = await TestTopic.create(1, { 'compression.type': 'lz4' });
    await packed.send(0, ['squeezed']);
    const reader = await open([[0, 0]], { topic: packed.name });
    await expect(readSome(reader)).rejects.toThrow(/compressed with lz4/);
    await packed.remove();
  });

  it('tells of history that is cut, and of a log that ends before, and stays where it was', async () => {
    for (const partition of [0, 1]) await topic.send(partition, numbers(0, 10));
    await topic.cut(0, 8);
    const reader = await open([
      [0, 2],
      [1, 0],
    ]);
    await expect(readSome(reader)).rejects.toMatchObject({
      constructor: LogGapError,
      topic: topic.name,
      partition: 0,
      expected: 2,
      log: { start: 8, end: 10 },
    });
    expect(reader.positions).toEqual(
      new Map([
        [0, 2],
        [1, 0],
      ]),
    );
    const other = await open([[1, 11]]);
    await expect(readSome(other)).rejects.toMatchObject({
      expected: 11,
      log: { start: 0, end: 10 },
    });
  });

  it('finds the offsets of a time, the end of the log for a later one, the start for any before', async () => {
    const at = (time: number, partition = 0) => ({
      partition,
      value: 'x',
      timestamp: String(time),
    });
    await produce([at(1_000), at(2_000), at(2_000), at(1_500), at(3_000), at(5_000, 1)]);
    const offsets = async (time: number) => [
      ...(await offsetsAtTime(topic.admin, topic.name, time)).entries(),
    ];
    const found = new Map(
      await Promise.all(
        [-1, -2, 0, 1_000, 1_001, 2_000.5, 3_001, 9_999_999_999_999].map(
          async (time) => [time, (await offsets(time)).sort().map(([, offset]) => offset)] as const,
        ),
      ),
    );
    expect(Object.fromEntries(found)).toEqual({
      '-1': [0, 0, 0],
      '-2': [0, 0, 0],
      '0': [0, 0, 0],
      '1000': [0, 0, 0],
      '1001': [1, 0, 0],
      '2000.5': [4, 0, 0],
      '3001': [5, 0, 0],
      '9999999999999': [5, 1, 0],
    });
  });

  it('knows the range of every log', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.send(1, numbers(0, 3));
    await topic.cut(0, 4);
    expect(await logRanges(topic.admin, topic.name)).toEqual(
      new Map([
        [0, { start: 4, end: 10 }],
        [1, { start: 0, end: 3 }],
        [2, { start: 0, end: 0 }],
      ]),
    );
  });
});
