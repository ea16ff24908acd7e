import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { KeySpace, shardOf } from '#board-store';
import { COSTS, PLAYER, PROCESS_BYTES, SLOWDOWN } from './costs.js';
import { shareOfBusiest, sizeOf, type Load } from './size.js';

const load: Load = {
  eventsPerSecond: 1_000,
  players: 100_000,
  boards: 1,
  views: 1,
  idBytes: 12,
  nodeMemory: 32e9,
};

describe('sizeOf', () => {
  it('has the costs of docs/performance.md', () => {
    const text = readFileSync('docs/performance.md', 'utf8');
    const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const documented = Object.keys(COSTS).map((name) => {
      const [, , ...cells] = rows.find((row) => row[1]?.startsWith(name)) ?? [];
      return [name, cells.slice(0, 6).map(Number)];
    });
    expect(documented).toEqual(
      Object.entries(COSTS).map(([name, cost]) => [name, Object.values(cost)]),
    );
    expect(text).toContain(`A player takes ${PLAYER.bytes} bytes per view, and ${PLAYER.idByte} `);
    expect(text).toContain(`Redis takes ${SLOWDOWN.atMillion} times the CPU`);
    expect(text).toContain(`with 10,000,000 ${SLOWDOWN.atTenMillion} times`);
    expect(text).toContain(`A process takes ${PROCESS_BYTES / 1e6} MB`);
  });

  it('takes one Redis with one shard for a small load', () => {
    const { processes, partitions, redis, problems } = sizeOf(load);
    expect(processes.count).toBe(1);
    expect(partitions).toBe(2);
    expect(redis).toMatchObject({ nodes: 1, shards: 1, memory: 100_000 * PLAYER.bytes });
    expect(problems).toEqual([]);
  });

  it('adds processes and nodes with the events, and nodes with the memory', () => {
    const many = { ...load, eventsPerSecond: 20_000, boards: 1_000, players: 1e6 };
    const { processes, redis, problems } = sizeOf(many);
    expect(processes.count).toBeGreaterThan(4);
    expect(redis.nodes).toBeGreaterThan(4);
    expect(redis.shards).toBe(16 * redis.nodes);
    expect(sizeOf({ ...many, eventsPerSecond: 100_000 }).redis.shards).toBe(256);
    expect(problems).toEqual([]);
    const large = sizeOf({ ...load, boards: 1_000, players: 1e9 });
    expect(large.redis.nodes).toBeGreaterThan(10);
    expect(large.redis.nodePeakMemory).toBeLessThanOrEqual(load.nodeMemory);
  });

  it.each([
    [3, 64, 100],
    [4, 64, 100],
    [6, 96, 100],
    [6, 96, 10_000],
    [16, 256, 1_000],
    [34, 256, 1_000],
    [34, 256, 100],
  ])('has the busiest of %d nodes with %d shards and %d boards within 20 %%', (...given) => {
    expect(shareOfBusiest(...given) / medianShare(...given)).toBeGreaterThan(0.8);
    expect(shareOfBusiest(...given) / medianShare(...given)).toBeLessThan(1.2);
  });

  it('calls each shard at least once per transaction', () => {
    const calls = (shards: number) => sizeOf({ ...load, shards }).redis.callsPerEvent;
    expect(calls(1)).toBeCloseTo(1 / 500);
    expect(calls(48)).toBeCloseTo(1 / 500 + 47 / 2_000);
  });

  it('names what can not work, and the way out', () => {
    expect(sizeOf({ ...load, eventsPerSecond: 1e6, players: 1e9 }).problems).toEqual([
      expect.stringMatching(/^a board has more events than one Redis applies: make several/),
      expect.stringMatching(/^a board has more players than fit into one Redis: make several/),
    ]);
    const huge = sizeOf({ ...load, eventsPerSecond: 1e8, boards: 1e6, players: 1e6 });
    expect(huge.problems).toEqual([
      expect.stringMatching(/^RANKLOG_SHARDS 256 can't .* several ranklogs$/),
    ]);
    const spread = { ...load, boards: 1_000, eventsPerSecond: 200_000, partitions: 1, shards: 2 };
    expect(sizeOf(spread).problems).toEqual([
      expect.stringMatching(/^\d+ processes need as many partitions, not 1$/),
      expect.stringMatching(/^RANKLOG_SHARDS 2 can't .* use more shards$/),
    ]);
  });
});

/** The part of the boards on the busiest node, in the median of sets of boards. */
function medianShare(nodes: number, shards: number, boards: number): number {
  const keys = new KeySpace('ranklog');
  const nodeOf = Array.from({ length: shards }, (_, shard) =>
    Math.floor((keys.slot(shard) * nodes) / 16_384),
  );
  const sets = Array.from({ length: 25 }, (_, set) => {
    const counts = Array<number>(nodes).fill(0);
    for (let board = 0; board < boards; board++)
      counts[nodeOf[shardOf(`${set}-${board}`, shards)]!]!++;
    return Math.max(...counts) / boards;
  });
  return sets.sort((one, other) => one - other)[12]!;
}
