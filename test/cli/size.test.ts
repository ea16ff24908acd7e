import { afterEach, describe, expect, it } from '@jest/globals';
import { parseBoardsFile } from '#board';
import { BoardStore, KeySpace, type ApplyCall, type ApplyOutcome, type Boards } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import {
  boardsFileOf,
  bytesPerRecord,
  commitEvents,
  eventOf,
  sendHeldEvents,
  totalsOf,
} from '../../bench/scale/load.mjs';
import { openRedis } from '../../scripts/redis-client.mjs';
import { sizeOf } from '../../src/cli/sizing/size.js';
import { Metrics } from '../../src/infra/metrics.js';
import { Applier } from '../../src/ingest/applier.js';
import { LiveBoards } from '../../src/ingest/live-boards.js';
import { runsOf } from '../ingest/applied-runs.js';
import { TestInstance } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';

const EVENTS = 20_000;
const BATCH = 2_000;

interface Load {
  readonly boards: number;
  readonly views: number;
  readonly idBytes: number;
  readonly shards: number;
}

const servers: RedisServer[] = [];
const instances: TestInstance[] = [];
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.remove()));
  await Promise.all(servers.splice(0).map((server) => server.remove()));
});

/** Counts apply calls in place of sending them. */
class CountingStore extends BoardStore {
  calls = 0;

  constructor(
    private readonly file: string,
    shards: number,
  ) {
    super(openRedis('redis://127.0.0.1:1', { lazyConnect: true }), new KeySpace('size'), {
      shards,
    });
  }

  override boards(): Promise<Boards> {
    const definitions = parseBoardsFile(this.file, 'boards.yaml');
    const live = definitions.map((definition) => {
      const { board } = definition;
      return [board, { board, generation: board, definition }] as const;
    });
    const versions = this.allShards.map(() => '1');
    const none = new Set<string>();
    return Promise.resolve({ live: new Map(live), building: none, removed: none, versions });
  }

  override areRegistered(): Promise<boolean> {
    return Promise.resolve(true);
  }

  override apply({ through }: ApplyCall): Promise<ApplyOutcome> {
    this.calls += 1;
    return Promise.resolve({ status: 'applied', appliedOffset: through, verdicts: [] });
  }
}

/** The calls per event of ranklog with full batches: one transaction for each. */
async function countedCalls({ shards, ...given }: Load): Promise<number> {
  const load = { ...given, events: EVENTS, players: 1_000, partitions: 1 };
  const store = new CountingStore(boardsFileOf(load), shards);
  const boards = new LiveBoards(store);
  await boards.refresh();
  const waits = { wait: () => Promise.reject(new Error('it waits')), done: () => undefined };
  const services = { store, boards, waits, metrics: new Metrics() };
  const applier = new Applier(services, { partition: 0 } as PartitionAssignment, {
    appliedOffsets: store.allShards.map(() => -1),
    continuity: store.allShards.map(() => 'token'),
  });
  for (let from = 0; from < EVENTS; from += BATCH) {
    const records = Array.from({ length: BATCH }, (_, index) => {
      const { value } = eventOf(from + index, load);
      const offset = from + index;
      const timestamp = Date.parse('2026-01-02');
      return { offset, timestamp, key: null, value: Buffer.from(value!), headers: {} };
    });
    const position = { from, published: from, nextOffset: from + BATCH };
    const runs = await runsOf(applier.apply(records, position));
    const kinds = new Set(runs.flatMap(({ items }) => items.map(({ entry }) => entry.kind)));
    expect([...kinds]).toEqual(['event']);
    await applier.sendOffset(from + BATCH - 1, from);
  }
  return store.calls / EVENTS;
}

/** Counters of the server since its start. */
async function counters({ redis }: RedisServer) {
  const info = await redis.info('everything');
  const number = (name: string) =>
    Number(new RegExp(`^${name}:(?:calls=)?(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return {
    received: number('total_net_input_bytes'),
    sent: number('total_net_output_bytes'),
    written: number('aof_current_size'),
    memory: number('used_memory'),
  };
}

/** What ranklog takes for the load that does not depend on the speed of the machine. */
async function measured({ shards, ...given }: Load) {
  const load = { ...given, events: EVENTS, players: EVENTS / given.boards, partitions: 1 };
  const server = await RedisServer.start('--auto-aof-rewrite-percentage', '0');
  servers.push(server);
  const instance = await TestInstance.create(boardsFileOf(load), {
    partitions: 1,
    env: { REDIS_URL: `redis://127.0.0.1:${server.port}`, RANKLOG_SHARDS: String(shards) },
  });
  instances.push(instance);
  const held = await sendHeldEvents(instance, load, 0);
  const service = await instance.start();
  const from = await counters(server);
  await commitEvents(held);
  await instance.published(EVENTS);
  const to = await counters(server);
  service.kill('SIGTERM');
  await service.ended;
  const { memory } = await counters(server);
  const perEvent = (what: keyof typeof to) => (to[what] - from[what]) / EVENTS;
  return {
    received: perEvent('received'),
    sent: perEvent('sent'),
    written: perEvent('written'),
    memory: memory - from.memory,
    event: await bytesPerRecord(instance, instance.topics.scoreEvents),
    result: await bytesPerRecord(instance, instance.topics.rankChanges),
  };
}

/** The same by the model. */
function modelled({ shards, ...given }: Load) {
  const load = { ...given, events: EVENTS, players: EVENTS / given.boards, partitions: 1 };
  const { players } = totalsOf(load);
  const { redis, kafka } = sizeOf({
    ...given,
    eventsPerSecond: 1_000,
    players,
    nodeMemory: 1e9,
    shards,
  });
  const { received, sent, written, memory } = redis;
  return { received, sent, written, memory, ...kafka };
}

describe('ranklog size', () => {
  it.each<Load>([
    { boards: 100, views: 1, idBytes: 12, shards: 48 },
    { boards: 1, views: 4, idBytes: 12, shards: 48 },
    { boards: 1_000, views: 2, idBytes: 12, shards: 64 },
  ])('is within 25 %% of the calls to Redis: %j', async (load) => {
    const { redis } = sizeOf({ ...load, eventsPerSecond: 1, players: 1_000, nodeMemory: 1e9 });
    const ratio = (await countedCalls(load)) / redis.callsPerEvent;
    expect(ratio).toBeGreaterThan(1 / 1.25);
    expect(ratio).toBeLessThan(1.25);
  });

  it.each<Load>([
    { boards: 20, views: 1, idBytes: 12, shards: 16 },
    { boards: 1, views: 4, idBytes: 36, shards: 1 },
  ])('is within 25 %% of what is measured: %j', async (load) => {
    const [found, model] = [await measured(load), modelled(load)];
    const ratios = Object.entries(model).map(([what, value]) => {
      return [what, found[what as keyof typeof found] / value] as const;
    });
    const bad = ratios.filter(([, ratio]) => !(ratio > 1 / 1.25 && ratio < 1.25));
    expect({ bad, found }).toEqual({ bad: [], found });
  });
});
