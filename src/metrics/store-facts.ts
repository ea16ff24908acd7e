import { Injectable } from '@nestjs/common';
import {
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  LeaseStore,
  type Boards,
  type GenerationOverview,
  type RecoveryTarget,
  type ReconciliationStatus,
} from '#board-store';
import type { Metrics } from './metrics.js';

export interface StoreFacts {
  readonly boards: Boards;
  readonly recovering: readonly RecoveryTarget[];
  /** Boards whose reads are stale. */
  readonly stale: ReadonlySet<string>;
  readonly generations: readonly GenerationOverview[];
  readonly reconciliations: readonly ReconciliationStatus[];
}

@Injectable()
export class StoreReader {
  constructor(
    private readonly store: BoardStore,
    private readonly continuity: ContinuityStore,
    private readonly catalog: GenerationCatalog,
    private readonly leases: LeaseStore,
  ) {}

  /** Cost: up to seventeen requests per shard, and one per running reconciliation; their replies grow with the boards. */
  async read(): Promise<StoreFacts> {
    const { store, continuity, catalog, leases } = this;
    const [boards, recovering, broken, generations, reconciliations] = await Promise.all([
      store.boards(),
      continuity.recoveryTargets(),
      this.#brokenShards(),
      catalog.generations(),
      leases.statuses(),
    ]);
    const staleShards = new Set([...broken, ...recovering.map(({ shard }) => shard)]);
    const stale = [...boards.live.keys()].filter((board) => staleShards.has(store.shardOf(board)));
    return { boards, recovering, stale: new Set(stale), generations, reconciliations };
  }

  /** Shards that have to be resynced, or are at this moment: their continuity does not name the present server. */
  async #brokenShards(): Promise<number[]> {
    const { continuity } = this;
    const isBroken = async (shard: number) => !(await continuity.continuity(shard)).isContinued;
    const broken = await Promise.all(continuity.shards.map(isBroken));
    return continuity.shards.filter((_, index) => broken[index]);
  }
}

export function setStoreMetrics(metrics: Metrics, facts: StoreFacts): void {
  resetStoreMetrics(metrics);
  metrics.gauges.redisUp.set(1);
  setRecovering(metrics, facts.recovering);
  for (const board of facts.boards.building) metrics.gauges.boardBuilding.set({ board }, 1);
  for (const board of facts.boards.live.keys())
    metrics.gauges.readsStale.set({ board }, Number(facts.stale.has(board)));
  for (const generation of facts.generations) setGeneration(metrics, generation);
  for (const status of facts.reconciliations) setReconciliation(metrics, status);
}

/** Removes all that was read from Redis, so that a scrape never shows old numbers as current. */
export function resetStoreMetrics({ gauges }: Metrics): void {
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
