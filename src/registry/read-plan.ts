import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';
import type { BoardDefinition } from '#board';
import type { BoardReader, BoardStore, KeySpace, ReconciliationStatus, Starts } from '#board-store';
import { logRanges, offsetsAtTime } from '#kafka-batch';
import type { CutPartition } from '../generations/errors.js';
import { cutPartitions } from '../generations/history.js';
import type { From } from '../generations/shadow-plan.js';
import { backfillOf, type LogFacts } from './backfill.js';
import { boardChanges, boardOf, type BoardChange } from './board-changes.js';
import { generationMemory } from './generation-memory.js';
import { idlePlan, planOf, toBeBuilt, type Plan } from './plan.js';

/** Where a plan looks. It only reads. */
export interface PlanSources {
  readonly admin: Admin;
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly reader: Pick<BoardReader, 'views'>;
  readonly store: Pick<BoardStore, 'boards' | 'shardOf'>;
  readonly generations: { liveAppliedOffsets(board: string): Promise<ReadonlyMap<number, number>> };
  readonly leases: { statuses(): Promise<readonly ReconciliationStatus[]> };
  /** The score topic. */
  readonly topic: string;
}

export interface PlanOptions {
  /** Where builds begin that are not to begin where what is live does. */
  readonly from?: From | undefined;
}

/** What the boards of a file would change. Cost: some requests, and 48 commands for the memory of each board that changes. */
export async function readPlan(
  sources: PlanSources,
  file: readonly BoardDefinition[],
  options: PlanOptions = {},
): Promise<Plan> {
  const [boards, statuses] = await Promise.all([sources.store.boards(), sources.leases.statuses()]);
  const changes = boardChanges(file, { ...boards, statuses });
  const toBuild = changes.filter(toBeBuilt);
  if (toBuild.length === 0) return idlePlan(changes);
  const log = await readLogFacts(sources, toBuild, options);
  return planOf(changes, {
    liveBytes: await readLiveBytes(sources, toBuild),
    backfill: backfillOf(log, statuses),
    cut: typeof options.from === 'number' ? [] : cutOf(toBuild, log),
    keepsStarts: options.from === undefined,
  });
}

/** What the live generations of changed boards lack, the new ones may lack, too. */
function cutOf(changes: readonly BoardChange[], { ranges }: LogFacts): CutPartition[] {
  const starts = earliestStarts(changes, ranges.keys());
  return cutPartitions({ needed: (partition) => starts.get(partition) ?? 0, ranges });
}

/** Where the first of the live generations of changed boards begins; of boards that are new, the log does. */
function earliestStarts(changes: readonly BoardChange[], partitions: Iterable<number>): Starts {
  const starts = changes.map((change) =>
    change.change === 'changed' ? change.live.starts : undefined,
  );
  const earliest = (partition: number) => Math.min(...starts.map((of) => of?.get(partition) ?? 0));
  return new Map([...partitions].map((partition) => [partition, earliest(partition)]));
}

async function readLogFacts(
  { admin, topic, generations }: PlanSources,
  changes: readonly BoardChange[],
  { from }: PlanOptions,
): Promise<LogFacts> {
  const [ranges, all] = await Promise.all([
    logRanges(admin, topic),
    Promise.all(changes.map((change) => generations.liveAppliedOffsets(boardOf(change)))),
  ]);
  const appliedOffsets = new Map<number, number>();
  for (const [partition, appliedOffset] of all.flatMap((shard) => [...shard]))
    appliedOffsets.set(partition, Math.max(appliedOffset, appliedOffsets.get(partition) ?? -1));
  if (from === 'start') return { ranges, appliedOffsets };
  if (from === undefined)
    return { ranges, appliedOffsets, from: earliestStarts(changes, ranges.keys()) };
  return { ranges, appliedOffsets, from: await offsetsAtTime(admin, topic, from) };
}

/** What the live generations of changed boards take in Redis. */
async function readLiveBytes(
  { redis, keys, store, reader }: PlanSources,
  changes: readonly BoardChange[],
): Promise<Map<string, number>> {
  const changed = changes.filter((change) => change.change === 'changed');
  const bytes = changed.map(async ({ live: { board, generation } }) => {
    const views = await reader.views(board);
    const shard = store.shardOf(board);
    return [board, await generationMemory(redis, keys, { shard, generation, views })] as const;
  });
  return new Map(await Promise.all(bytes));
}
