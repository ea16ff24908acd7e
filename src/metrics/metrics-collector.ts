import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { isStopped } from '../ingest/errors.js';
import { PartitionWaits } from '../ingest/partition-waits.js';
import { Metrics } from './metrics.js';
import { setStoreMetrics, StoreReader, type StoreFacts } from './store-facts.js';

/** Updates the metrics for each scrape. Scrapes at the same time share one read of Redis. */
@Injectable()
export class MetricsCollector {
  #reading: Promise<StoreFacts> | undefined;
  /** Less than the scrape timeout of Prometheus (10 s by default) and than the timeout of a Redis command. */
  protected readonly redisTimeoutMs: number = 2_000;

  constructor(
    private readonly metrics: Metrics,
    private readonly store: StoreReader,
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
  ) {}

  /** The text that Prometheus reads. If Redis does not answer in time, the text says so, without the metrics of Redis. */
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
    this.#reading ??= this.store.read().finally(() => (this.#reading = undefined));
    return this.#reading.catch(() => undefined); // ranklog_redis_up reports the failure
  }
}
