import { expect, it } from '@jest/globals';
import { readRanges, type LogRange } from '#kafka-batch';
import { numbers, TestTopic } from './topic.js';

it('a read of ranges returns their records alone, also if ranges end in the middle of a batch', async () => {
  const topic = await TestTopic.create(3);
  const source = { kafka: topic.kafka, topic: topic.name };
  const read = async (ranges: Readonly<Record<number, LogRange>>) => {
    const asked = Object.entries(ranges).map(([id, range]) => [Number(id), range] as const);
    const values: Record<number, unknown[]> = {};
    for await (const round of readRanges(new Map(asked), source))
      for (const { partition, records } of round)
        (values[partition] ??= []).push(...records.map(({ value }) => value?.toString()));
    return values;
  };
  try {
    for (const partition of [0, 1, 2]) await topic.send(partition, numbers(0, 10));
    expect(await read({ 0: { start: 3, end: 7 }, 1: { start: 0, end: 10 } })).toEqual({
      0: numbers(3, 7),
      1: numbers(0, 10),
    });
    expect(await read({ 2: { start: 5, end: 5 } })).toEqual({});
  } finally {
    await topic.remove();
  }
});
