import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { Metrics } from '../infra/metrics.js';
import { Stores } from '../infra/stores.js';
import { isStopped } from '../ingest/ingest-errors.js';
import { PartitionWaits } from '../ingest/partition-waits.js';

export type StoreFacts = Awaited<ReturnType<StoreReader['read']>>;

@Injectable()
export class StoreReader {
  constructor(@Inject(Stores) private readonly stores: Omit<Stores, 'keys' | 'generations'>) {}

  /**
   * Cost: up to thirty requests per shard, more with thousands of boards, and one per running
   * reconciliation.
   */
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

  /**
   * Shards that need a resync, or have one at this moment: their continuity names another Redis
   * server than the present one.
   */
  async #brokenShards(): Promise<number[]> {
    const { continuity } = this.stores;
    const isBroken = async (shard: number) => !(await continuity.continuity(shard)).isContinued;
    const broken = await Promise.all(continuity.allShards.map(isBroken));
    return continuity.allShards.filter((_, index) => broken[index]);
  }
}

/** Updates the metrics for each scrape. Scrapes at the same time share one read of Redis. */
@Injectable()
export class MetricsCollector {
  #reading: Promise<StoreFacts> | undefined;
  /**
   * Less than the scrape timeout of Prometheus (10 s by default) and than the timeout of a Redis
   * command.
   */
  protected readonly redisTimeoutMs: number = 2_000;

  constructor(
    private readonly metrics: Metrics,
    private readonly store: StoreReader,
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
  ) {}

  /**
   * The text that Prometheus reads. If Redis does not answer in time, the text says so, without the
   * metrics of Redis.
   */
  async scrape(): Promise<string> {
    this.#setPartitions();
    await this.#setStore();
    return this.metrics.registry.metrics();
  }

  #setPartitions(): void {
    const { loopAgeMs, partitions } = this.transport.health();
    const { gauges } = this.metrics;
    gauges.ranklog_fetch_loop_age_seconds.set(loopAgeMs / 1_000);
    for (const [name, gauge] of Object.entries(gauges))
      if (name.startsWith('ranklog_partition_')) gauge.reset();

    for (const [partition, health] of partitions) {
      const isWaiting = this.waits.current.has(partition);
      gauges.ranklog_partition_stopped.set({ partition }, Number(isStopped(health)));
      gauges.ranklog_partition_stuck_seconds.set({ partition }, health.stuckMs / 1_000);
      gauges.ranklog_partition_lag_records.set({ partition }, health.lag);
      gauges.ranklog_partition_lag_seconds.set({ partition }, health.lagMs / 1_000);
      gauges.ranklog_partition_waiting.set({ partition, reason: 'recovering' }, Number(isWaiting));
    }
  }

  async #setStore(): Promise<void> {
    const late = delay(this.redisTimeoutMs, undefined, { ref: false });
    const facts = await Promise.race([this.#read(), late]);
    if (facts === undefined) this.metrics.resetStore();
    else setStoreMetrics(this.metrics, facts);
  }

  /** Reads from Redis; undefined if that failed. Scrapes that come during a read share it. */
  #read(): Promise<StoreFacts | undefined> {
    this.#reading ??= this.store.read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading.catch(() => undefined); // ranklog_redis_up reports the failure
  }
}

function setStoreMetrics(metrics: Metrics, facts: StoreFacts): void {
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
