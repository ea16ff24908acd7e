import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LiveBoard, ReconciliationStatus } from '#board-store';
import type { ConsumerHealth } from '#kafka-batch';
import type { KafkaBatchServer } from '#kafka-batch/nest';
import { NeedsOperatorError } from '../ingest/ingest-errors.js';
import type { PartitionWaits } from '../ingest/partition-waits.js';
import { MetricsCollector, StoreReader, type StoreFacts } from '../operations/metrics-collector.js';
import { COUNTERS, GAUGES, HISTOGRAMS, Metrics } from './metrics.js';
import type { Stores } from './stores.js';

const NO_LAG = { lag: 0, lagMs: 0 };
const live = (board: string, starts?: LiveBoard['starts']) =>
  ({ board, generation: `g-${board}`, ...(starts && { starts }) }) as LiveBoard;
const boards = new Map([
  ['arena', live('arena')],
  ['chess', live('chess')],
]);
const BUILD: ReconciliationStatus = {
  board: 'arena',
  kind: 'build',
  state: 'running',
  generation: 'g2',
  holder: 'host:1',
  done: 250,
  total: 1_000,
  rate: 99.5,
  secondsLeft: 12,
  startedAt: 0,
  updatedAt: 0,
};
const FACTS: StoreFacts = {
  boards: { live: boards, building: new Set(['golf']), removed: new Set(), versions: [] },
  recovering: [{ shard: 0, partition: 1, applied: 20, target: 250 }],
  stale: new Set(['chess']),
  generations: [
    { ...live('arena'), role: 'live' },
    { ...live('arena', new Map([[0, 12]])), generation: 'g-old', role: 'previous' },
  ],
  reconciliations: [BUILD],
};
class QuickCollector extends MetricsCollector {
  protected override readonly redisTimeoutMs = 20;
}
const FROM_REDIS =
  /^ranklog_(reads|board|generation|recovery|reconciliation)_?\w*(?:\{.*\})? .*$/gm;

describe('the metrics', () => {
  it('are listed in docs/reference/metrics.md, one by one', () => {
    const rows = readFileSync('docs/reference/metrics.md', 'utf8')
      .split('\n')
      .filter((line) => /^\| `ranklog_\w+` /.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', '')),
      );
    const tables = Object.entries({ gauge: GAUGES, counter: COUNTERS, histogram: HISTOGRAMS });
    const expected = tables.flatMap(([type, table]) =>
      Object.entries(table).map(([key, help]) => {
        const [name, ...labels] = key.match(/\w+/g) ?? [];
        return [name, type, labels.join(', '), help];
      }),
    );
    expect(rows).toEqual(expected);
  });
});

describe('a scrape', () => {
  let metrics: Metrics;
  let waiting: Set<number>;
  let reads: number;
  let readStore: () => Promise<StoreFacts>;
  beforeEach(() => {
    metrics = new Metrics();
    waiting = new Set();
    reads = 0;
    readStore = () => Promise.resolve(FACTS);
  });

  const collector = (consumer: ConsumerHealth = { loopAgeMs: 0, partitions: new Map() }) => {
    const store = {
      read: () => {
        reads += 1;
        return readStore();
      },
    };
    const transport: Pick<KafkaBatchServer, 'health'> = { health: () => consumer };
    const waits = {
      get current() {
        return waiting;
      },
    };
    return new QuickCollector(
      metrics,
      store as unknown as StoreReader,
      transport as KafkaBatchServer,
      waits as unknown as PartitionWaits,
    );
  };

  it('reports which partitions have stopped or need operator action, how long each partition is stuck, and its lag', async () => {
    const partitions = new Map([
      [0, { state: 'running', error: undefined, stuckMs: 1_500, lag: 7, lagMs: 2_500 } as const],
      [1, { state: 'failed', error: new Error('gone'), stuckMs: 0, ...NO_LAG } as const],
      [
        2,
        {
          state: 'backingOff',
          error: new NeedsOperatorError('no topic'),
          stuckMs: 0,
          ...NO_LAG,
        } as const,
      ],
      [
        3,
        { state: 'backingOff', error: new Error('for a moment'), stuckMs: 0, ...NO_LAG } as const,
      ],
    ]);
    const text = await collector({ loopAgeMs: 250, partitions }).scrape();
    expect(text.match(/^ranklog_partition_lag.*partition="0".*$/gm)).toEqual([
      'ranklog_partition_lag_records{partition="0"} 7',
      'ranklog_partition_lag_seconds{partition="0"} 2.5',
    ]);
    expect(text.match(/^ranklog_(partition_st|fetch).*$/gm)).toEqual([
      'ranklog_partition_stopped{partition="0"} 0',
      'ranklog_partition_stopped{partition="1"} 1',
      'ranklog_partition_stopped{partition="2"} 1',
      'ranklog_partition_stopped{partition="3"} 0',
      'ranklog_partition_stuck_seconds{partition="0"} 1.5',
      'ranklog_partition_stuck_seconds{partition="1"} 0',
      'ranklog_partition_stuck_seconds{partition="2"} 0',
      'ranklog_partition_stuck_seconds{partition="3"} 0',
      'ranklog_fetch_loop_age_seconds 0.25',
    ]);
  });

  it('reports which partitions wait, and which do not', async () => {
    const running = { state: 'running', error: undefined, stuckMs: 0, ...NO_LAG } as const;
    const partitions = new Map([0, 1, 2].map((partition) => [partition, running] as const));
    const scrapes = collector({ loopAgeMs: 0, partitions });
    const linesOf = (text: string) => text.match(/^ranklog_partition_(waiting|stopped)\{.* 1$/gm);
    waiting = new Set([1]);
    expect(linesOf(await scrapes.scrape())).toEqual([
      'ranklog_partition_waiting{partition="1",reason="recovering"} 1',
    ]);
    waiting = new Set();
    const text = await scrapes.scrape();
    expect(linesOf(text)).toBeNull();
    expect(text.match(/^ranklog_partition_waiting\{partition="2".*$/gm)).toEqual([
      'ranklog_partition_waiting{partition="2",reason="recovering"} 0',
    ]);
  });

  it('leaves out partitions that the process has lost', async () => {
    const partitions = new Map([
      [0, { state: 'running', error: undefined, stuckMs: 0, ...NO_LAG } as const],
    ]);
    const scrapes = collector({ loopAgeMs: 0, partitions });
    await scrapes.scrape();
    partitions.clear();
    expect(await scrapes.scrape()).not.toContain('partition="0"');
  });

  it('reports boards, recovery and reconciliations from Redis', async () => {
    const text = await collector().scrape();
    expect(text.match(FROM_REDIS)).toEqual([
      'ranklog_recovery_applied_offset{shard="0",partition="1"} 20',
      'ranklog_recovery_target_offset{shard="0",partition="1"} 250',
      'ranklog_reads_stale{board="arena"} 0',
      'ranklog_reads_stale{board="chess"} 1',
      'ranklog_board_building{board="golf"} 1',
      'ranklog_generation_info{board="arena",generation="g-arena",role="live",partial_history="no"} 1',
      'ranklog_generation_info{board="arena",generation="g-old",role="previous",partial_history="yes"} 1',
      'ranklog_reconciliation_running{board="arena",kind="build"} 1',
      'ranklog_reconciliation_done_records{board="arena",kind="build"} 250',
      'ranklog_reconciliation_total_records{board="arena",kind="build"} 1000',
      'ranklog_reconciliation_records_per_second{board="arena",kind="build"} 99.5',
    ]);
    expect(text).toContain('ranklog_redis_up 1\n');
  });

  it.each([
    ['fails', () => Promise.reject(new Error('not connected'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('leaves out the metrics of Redis when it %s', async (_, broken) => {
    const scrapes = collector();
    await scrapes.scrape();
    readStore = broken;
    const text = await scrapes.scrape();
    expect(text).toContain('ranklog_redis_up 0\n');
    expect(text.match(FROM_REDIS)).toBeNull();
    expect(text).toContain('process_cpu_seconds_total');
  });

  it('shares one read of Redis with scrapes that come meanwhile', async () => {
    let answer: (facts: StoreFacts) => void = () => undefined;
    readStore = () => new Promise((resolve) => (answer = resolve));
    const scrapes = collector();
    await Promise.all([scrapes.scrape(), scrapes.scrape()]);
    const third = scrapes.scrape();
    expect(reads).toBe(1);
    answer(FACTS);
    expect(await third).toContain('ranklog_redis_up 1\n');
    readStore = () => Promise.resolve(FACTS);
    await scrapes.scrape();
    expect(reads).toBe(2);
  });
});

describe('StoreReader', () => {
  it('reports boards as stale while their shard recovers or is on another server', async () => {
    const shards: Record<string, number> = { arena: 0, chess: 1, golf: 2 };
    const all = new Map(Object.keys(shards).map((board) => [board, live(board)]));
    const store = {
      boards: () =>
        Promise.resolve({ live: all, building: new Set(), removed: new Set(), versions: [] }),
      shardOf: (board: string) => shards[board] ?? 0,
    };
    const continuity = {
      allShards: [0, 1, 2],
      continuity: (shard: number) =>
        Promise.resolve({ server: 's', token: 't', isContinued: shard !== 2 }),
      recoveryTargets: () => Promise.resolve([{ shard: 1, partition: 0, applied: 0, target: 5 }]),
    };
    const empty = { generations: () => Promise.resolve([]), statuses: () => Promise.resolve([]) };
    const stores = { store, continuity, catalog: empty, leases: empty } as unknown as Stores;
    const { stale } = await new StoreReader(stores).read();
    expect(stale).toEqual(new Set(['chess', 'golf']));
  });
});
