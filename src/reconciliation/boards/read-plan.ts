import type { Admin, Kafka } from 'kafkajs';
import type { BoardDefinition } from '#board';
import type { RedisClient, Starts, ViewSummary } from '#board-store';
import { logRanges, offsetsAtTime } from '#kafka-batch';
import type { Stores } from '../../infra/stores.js';
import { cutPartitions } from '../runs/log-history.js';
import type { From } from '../runs/shadow-plan.js';
import { closingChanges, type ClosingChange } from './closing-changes.js';
import { isPublishOnly } from './field-changes.js';
import { readLeftOut, type Change } from './left-out.js';
import {
  backfillOf,
  boardChanges,
  needsBuild,
  rangesToRead,
  type BoardChange,
  type Plan,
} from './plan.js';

/** The sources of a plan, which writes nothing. */
interface PlanSources {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly redis: RedisClient;
  readonly stores: Pick<Stores, 'keys' | 'store' | 'generations' | 'leases' | 'reader'>;
  /** The score topic. */
  readonly topic: string;
}

/**
 * Plans the changes that the boards of a file would make. `from`: where builds begin, if not where
 * the live generations begin.
 * Cost: for each changed board, a listing of its views, and two requests for each of at most 48
 * views; and a pass over the log, or over a part of it. If there is a new board: one request for
 * each live board.
 */
export async function readPlan(
  sources: PlanSources,
  file: readonly BoardDefinition[],
  { from }: { readonly from?: From | undefined } = {},
): Promise<Plan> {
  const { stores, kafka, admin, topic } = sources;
  const [boards, statuses] = await Promise.all([stores.store.boards(), stores.leases.statuses()]);
  const changes = boardChanges(file, boards, statuses);
  const toBuild = changes.filter(needsBuild);

  const views = await readViews(sources, changes);
  const liveBytes = await readLiveBytes(sources, changes, views);
  const planned = changes.map((change) => ({
    ...plannedOf(change, from),
    liveBytes: liveBytes.get(change.board) ?? null,
    closings: closingsOf(change, file, views),
  }));
  if (toBuild.length === 0) return { boards: planned, backfill: null, cut: [], bans: [] };

  const ranges = await logRanges(kafka, topic);
  const appliedOffsets = await readAppliedOffsets(stores, toBuild);
  const partitions = new Set([...ranges.keys(), ...appliedOffsets.keys()]);
  const liveBegins = firstStarts(toBuild, partitions);
  const isAtTime = typeof from === 'number';
  // Records that the live generations lack do not count as cut.
  const cut = isAtTime ? [] : cutPartitions(ranges, liveBegins);
  const atTime = isAtTime ? await offsetsAtTime(admin, topic, from) : [];
  const begins = new Map(from === 'start' ? [] : [...liveBegins, ...atTime]);
  const facts = { ranges, appliedOffsets, begins };

  const rebuilds = changesOf(toBuild, file);
  const leftOut = await readLeftOut(sources, rangesToRead(facts), rebuilds);
  const withLeftOut = planned.map((board) => {
    return { ...board, leftOut: leftOut.get(board.board) ?? null };
  });
  const hasNew = toBuild.some(({ live }) => live === undefined);
  const bans = hasNew ? await readBans(sources) : [];
  return { boards: withLeftOut, backfill: backfillOf(facts, statuses), cut, bans };
}

/** The live boards whose rankings a build may change, with their new definitions. */
function changesOf(toBuild: readonly BoardChange[], file: readonly BoardDefinition[]): Change[] {
  const changes: Change[] = [];
  for (const { board, live, fields } of toBuild) {
    const definition = file.find((wanted) => wanted.board === board);
    if (live === undefined || definition === undefined || isPublishOnly(fields)) continue;
    changes.push({ live, file: definition });
  }
  return changes;
}

/** The live boards that have banned or erased players. */
async function readBans({ stores: { reader } }: PlanSources): Promise<Plan['bans']> {
  const live = await reader.boards();
  const reads = live.map(async ({ board }) => {
    const { count } = await reader.bans(board, { limit: 1 });
    return { board, count };
  });
  const bans = await Promise.all(reads);
  return bans.filter(({ count }) => count > 0);
}

function plannedOf({ live, ...change }: BoardChange, from: From | undefined) {
  const starts = change.change === 'changed' && from === undefined ? live?.starts : undefined;
  return {
    ...change,
    generation: live?.generation ?? null,
    startsAt: starts === undefined ? null : Object.fromEntries(starts),
    leftOut: null,
  };
}

function closingsOf(
  { board, live }: BoardChange,
  file: readonly BoardDefinition[],
  viewsOf: ReadonlyMap<string, readonly ViewSize[]>,
): ClosingChange[] {
  const definition = file.find((wanted) => wanted.board === board);
  if (live === undefined || definition === undefined) return [];

  const views = (viewsOf.get(board) ?? []).map(({ view }) => view);
  return closingChanges(live.definition, definition, { views, now: Date.now() });
}

/** By partition, the first offset where any of the live generations begins. */
function firstStarts(changes: readonly BoardChange[], partitions: Iterable<number>): Starts {
  const firsts = new Map<number, number>();
  for (const partition of partitions) {
    const starts = changes.map(({ live }) => live?.starts?.get(partition) ?? 0);
    firsts.set(partition, Math.min(...starts));
  }
  return firsts;
}

/** The largest live applied offset of each partition. */
async function readAppliedOffsets(
  { generations }: PlanSources['stores'],
  changes: readonly BoardChange[],
): Promise<Map<number, number>> {
  const all = await Promise.all(changes.map(({ board }) => generations.liveAppliedOffsets(board)));
  const largest = new Map<number, number>();
  for (const offsets of all)
    for (const [partition, offset] of offsets)
      largest.set(partition, Math.max(offset, largest.get(partition) ?? -1));
  return largest;
}

/** The views of changed boards. */
async function readViews(
  { stores: { reader } }: PlanSources,
  changes: readonly BoardChange[],
): Promise<Map<string, ViewSummary[]>> {
  const changed = changes.filter(({ change, live }) => change === 'changed' && live !== undefined);
  const views = changed.map(async ({ board }) => [board, await reader.views(board)] as const);
  return new Map(await Promise.all(views));
}

/** Memory of the live generations of changed boards. */
async function readLiveBytes(
  { redis, stores }: PlanSources,
  changes: readonly BoardChange[],
  viewsOf: ReadonlyMap<string, readonly ViewSize[]>,
): Promise<Map<string, number>> {
  const { keys, store } = stores;
  const liveBytes = new Map<string, number>();
  const measure = async ({ board, live }: BoardChange) => {
    const views = viewsOf.get(board);
    if (views === undefined || live === undefined) return;
    const keysOf = ({ view }: ViewSize) => keys.ofView(store.shardOf(board), live.generation, view);
    liveBytes.set(board, await memoryOf(redis, views, keysOf));
  };
  await Promise.all(changes.map(measure));
  return liveBytes;
}

type ViewSize = Pick<ViewSummary, 'view' | 'size'>;

const MEASURED_VIEWS = 48;
/** How many members of a key Redis looks at to estimate its memory. */
const SAMPLES = 50;

/**
 * Estimates the memory of the keys of views, in bytes: groups views of similar size, and measures
 * one view of each group.
 */
export async function memoryOf(
  redis: RedisClient,
  views: readonly ViewSize[],
  keysOf: (view: ViewSize) => readonly string[],
): Promise<number> {
  const bySize = [...views].sort((a, b) => b.size - a.size);
  const step = Math.max(1, bySize.length / MEASURED_VIEWS);
  const groups = Array.from({ length: Math.ceil(bySize.length / step) }, (_, group) =>
    bySize.slice(Math.floor(group * step), Math.floor((group + 1) * step)),
  );
  const bytes = groups.map(async (alike) => {
    const [measured] = alike;
    if (measured === undefined) return 0;
    const usages = keysOf(measured).map((key) => redis.memory('USAGE', key, 'SAMPLES', SAMPLES));
    const measuredBytes = sum(await Promise.all(usages));
    const players = sum(alike.map(({ size }) => size));
    return (measuredBytes * players) / Math.max(1, measured.size);
  });
  return Math.round(sum(await Promise.all(bytes)));
}

function sum(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
}
