import type {
  BoardStore,
  Boards,
  ContinuityStore,
  GenerationCatalog,
  GenerationOverview,
  RecoveryTarget,
  ReconciliationStatus,
} from '#board-store';
import type { Metrics } from './metrics.js';

/** What Redis knows that is worth a metric. */
export interface StoreFacts {
  readonly boards: Boards;
  readonly recovering: readonly RecoveryTarget[];
  /** Boards whose reads are stale. */
  readonly stale: ReadonlySet<string>;
  readonly generations: readonly GenerationOverview[];
  readonly reconciliations: readonly ReconciliationStatus[];
}

interface Sources {
  readonly store: Pick<BoardStore, 'boards' | 'shardOf'>;
  readonly continuity: Pick<ContinuityStore, 'shards' | 'continuity' | 'recoveryTargets'>;
  readonly catalog: Pick<GenerationCatalog, 'generations'>;
  readonly statuses: { statuses(): Promise<readonly ReconciliationStatus[]> };
}

/** Cost: some sixteen short requests a shard, however many boards there are. */
export async function readStoreFacts(sources: Sources): Promise<StoreFacts> {
  const { store, continuity, catalog, statuses } = sources;
  const [boards, recovering, broken, generations, reconciliations] = await Promise.all([
    store.boards(),
    continuity.recoveryTargets(),
    brokenShards(continuity),
    catalog.generations(),
    statuses.statuses(),
  ]);
  const staleShards = new Set([...broken, ...recovering.map(({ shard }) => shard)]);
  const stale = [...boards.live.keys()].filter((board) => staleShards.has(store.shardOf(board)));
  return { boards, recovering, stale: new Set(stale), generations, reconciliations };
}

/** Shards whose server is not the one that was compared with Kafka. */
async function brokenShards(continuity: Sources['continuity']): Promise<number[]> {
  const shards = await Promise.all(
    continuity.shards.map(async (shard) => ({ shard, ...(await continuity.continuity(shard)) })),
  );
  return shards.filter(({ isContinued }) => !isContinued).map(({ shard }) => shard);
}

/** Metrics of what is known no more are gone. */
export function setStoreFacts(metrics: Metrics, facts: StoreFacts): void {
  forgetStoreFacts(metrics);
  metrics.gauges.redisUp.set(1);
  setRecovering(metrics, facts.recovering);
  for (const board of facts.boards.building) metrics.gauges.boardBuilding.set({ board }, 1);
  for (const board of facts.boards.live.keys())
    metrics.gauges.readsStale.set({ board }, Number(facts.stale.has(board)));
  for (const generation of facts.generations) setGeneration(metrics, generation);
  for (const status of facts.reconciliations) setReconciliation(metrics, status);
}

/** Redis does not answer: yesterday's numbers would be taken for today's. */
export function forgetStoreFacts({ gauges }: Metrics): void {
  for (const gauge of [
    gauges.recoveringApplied,
    gauges.recoveringTarget,
    gauges.readsStale,
    gauges.boardBuilding,
    gauges.generationInfo,
    gauges.reconciliationRunning,
    gauges.reconciliationDone,
    gauges.reconciliationTotal,
    gauges.reconciliationRate,
  ])
    gauge.reset();
  gauges.redisUp.set(0);
}

function setRecovering({ gauges }: Metrics, recovering: readonly RecoveryTarget[]): void {
  for (const { shard, partition, applied, target } of recovering) {
    gauges.recoveringApplied.set({ shard, partition }, applied);
    gauges.recoveringTarget.set({ shard, partition }, target);
  }
}

function setGeneration({ gauges }: Metrics, overview: GenerationOverview): void {
  const { board, generation, role, starts } = overview;
  const partial_history = starts === undefined ? 'no' : 'yes';
  gauges.generationInfo.set({ board, generation, role, partial_history }, 1);
}

function setReconciliation({ gauges }: Metrics, status: ReconciliationStatus): void {
  const { board, kind, state, done, total, rate } = status;
  const isRunning = state === 'running';
  gauges.reconciliationRunning.set({ board, kind }, Number(isRunning));
  gauges.reconciliationDone.set({ board, kind }, done);
  gauges.reconciliationTotal.set({ board, kind }, total);
  gauges.reconciliationRate.set({ board, kind }, isRunning ? rate : 0);
}
