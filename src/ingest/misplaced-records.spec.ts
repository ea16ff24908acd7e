import { describe, expect, it } from '@jest/globals';
import { partitionOf } from '#kafka-batch';
import { arena } from '../../test/support/arena.js';
import { Logger } from '../infra/logger.js';
import { Metrics } from '../infra/metrics.js';
import { MisplacedRecords, PlacementWatch } from './misplaced-records.js';
import { readRecord } from './read-record.js';

const live = new Map([
  ['arena', { board: 'arena', generation: 'g', definition: { ...arena, deduplicateMs: 1_000 } }],
]);
const BOARDS = { live, building: new Set<string>(), removed: new Set<string>(), versions: [] };

/** A player whose id has this partition of 4. */
const playerIn = (partition: number) =>
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'].find(
    (id) => partitionOf(id, 4) === partition,
  ) ?? '';

const read = (offset: number, playerId: string, key: string | null = playerId, headers = {}) =>
  readRecord(
    {
      ...{ offset, timestamp: 1_000, headers },
      key: key === null ? null : Buffer.from(key),
      value: Buffer.from(JSON.stringify({ board: 'arena', playerId, delta: 1, eventId: 'e' })),
    },
    0,
    BOARDS,
  );

const setUp = (live: number, end: number) => {
  const lines: [string, object][] = [];
  const metrics = new Metrics();
  const warn = (line: string, facts?: object) => lines.push([line, facts ?? {}]);
  const misplaced = new MisplacedRecords(metrics, { warn } as unknown as Logger);
  const log = { start: 0, end, partitions: 4 };
  const watch = new PlacementWatch({ topic: 'x', partition: 0 }, live, log);
  const report = (...items: ReturnType<typeof read>[]) =>
    watch.report(items, BOARDS.live, misplaced);
  const counted = async () => {
    const { values } = await metrics.counters.ranklog_misplaced_records_total.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.reason), value]));
  };
  return { watch, report, counted, lines };
};

describe('misplaced records', () => {
  const [right, wrong] = [playerIn(0), playerIn(1)];

  it('have no key, the key of another player, or another partition; logged with what a repeat means', async () => {
    const { report, counted, lines } = setUp(0, 0);
    report(read(0, right), read(1, right, null), read(2, right, wrong), read(3, wrong));
    expect(await counted()).toEqual({ key: 2, partition: 1 });
    expect(lines).toEqual([
      [
        expect.stringMatching(
          /^misplaced records: 1: .* a repeated event may count twice on board "arena"/,
        ),
        { count: 1, reason: 'key', board: 'arena', id: 'x/0/1', deduplicates: true },
      ],
      [expect.any(String), expect.objectContaining({ reason: 'partition', id: 'x/0/3' })],
    ]);
  });

  it('are not counted again when they are read again, nor as retries of dead letters', async () => {
    const { report, counted } = setUp(5, 0);
    report(read(4, wrong), read(4, right, null));
    const headers = {
      ranklog_retry_of: [Buffer.from('x/0/1')],
      ranklog_retry_timestamp: [Buffer.from('1000')],
    };
    report(read(6, wrong, wrong, headers));
    expect(await counted()).toEqual({});
  });

  it('are judged by their partition only if they came after the number of partitions was seen', async () => {
    const { watch, report, counted } = setUp(0, 10);
    report(read(9, wrong), read(9, right, null), read(10, wrong));
    expect(await counted()).toEqual({ key: 1, partition: 1 });
    watch.look({ start: 0, end: 20, partitions: 4 });
    report(read(15, wrong));
    watch.look({ start: 0, end: 20, partitions: 8 });
    report(read(16, wrong), read(20, wrong));
    expect(await counted()).toEqual({ key: 1, partition: 3 });
  });
});
