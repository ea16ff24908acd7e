import { Inject, Injectable } from '@nestjs/common';
import { STORES, type Stores } from '../infra/connections.module.js';
import type { Metrics } from './metrics.js';

export type StoreFacts = Awaited<ReturnType<StoreReader['read']>>;

@Injectable()
export class StoreReader {
  constructor(@Inject(STORES) private readonly stores: Omit<Stores, 'keys' | 'generations'>) {}

  /** Cost: up to seventeen requests per shard, and one per running reconciliation; their replies grow with the boards. */
  async read() {
    const { store, continuity, catalog, leases } = this.stores;
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
    const { continuity } = this.stores;
    const isBroken = async (shard: number) => !(await continuity.continuity(shard)).isContinued;
    const broken = await Promise.all(continuity.allShards.map(isBroken));
    return continuity.allShards.filter((_, index) => broken[index]);
  }
}

export function setStoreMetrics(metrics: Metrics, facts: StoreFacts): void {
  const { gauges } = metrics;
  metrics.resetStore();
  gauges.ranklog_redis_up.set(1);
  for (const { shard, partition, applied, target } of facts.recovering) {
    gauges.ranklog_recovery_applied_offset.set({ shard, partition }, applied);
    gauges.ranklog_recovery_target_offset.set({ shard, partition }, target);
  }
  for (const board of facts.boards.building) gauges.ranklog_board_building.set({ board }, 1);
  for (const board of facts.boards.live.keys())
    gauges.ranklog_reads_stale.set({ board }, Number(facts.stale.has(board)));
  for (const { board, generation, role, starts } of facts.generations) {
    const partial_history = starts === undefined ? 'no' : 'yes';
    gauges.ranklog_generation_info.set({ board, generation, role, partial_history }, 1);
  }
  for (const { board, kind, state, done, total, rate } of facts.reconciliations) {
    const isRunning = state === 'running';
    gauges.ranklog_reconciliation_running.set({ board, kind }, Number(isRunning));
    gauges.ranklog_reconciliation_done_records.set({ board, kind }, done);
    gauges.ranklog_reconciliation_total_records.set({ board, kind }, total);
    gauges.ranklog_reconciliation_records_per_second.set({ board, kind }, isRunning ? rate : 0);
  }
}
