import { setTimeout as delay } from 'node:timers/promises';
import type { ConsumerHealth } from '#kafka-batch';
import type { Metrics } from './metrics.js';
import { forgetStoreFacts, setStoreFacts, type StoreFacts } from './store-facts.js';

export interface MetricsCollectorOptions {
  readonly metrics: Metrics;
  /** Missing in a process without the role ingest. */
  readonly consumer?: () => ConsumerHealth;
  readonly waiting: () => ReadonlySet<number>;
  /** Whether the partition needs operator action. */
  readonly needsOperator: (error: Error) => boolean;
  /** What Redis knows; may fail or take long. */
  readonly readStore: () => Promise<StoreFacts>;
  /** How long a scrape waits for it, in ms. */
  readonly patienceMs?: number;
}

/** Less than what Prometheus waits by default (10 s), and than what a command to Redis may take. */
const RETRY_FOR_MS = 2_000;

/**
 * Brings the metrics up to date when they are scraped. However many scrape, Redis is asked once at a time; a scrape
 * that it does not answer in time tells the rest, and that Redis is away.
 */
export class MetricsCollector {
  #reading: Promise<StoreFacts> | undefined;

  constructor(private readonly options: MetricsCollectorOptions) {}

  /** The text that Prometheus reads. Never fails for Redis. */
  async scrape(): Promise<string> {
    this.#setPartitions();
    await this.#setStore();
    return this.options.metrics.registry.metrics();
  }

  #setPartitions(): void {
    const { metrics, consumer, waiting, needsOperator } = this.options;
    if (consumer === undefined) return;
    const { loopAgeMs, partitions } = consumer();
    const { partitionStopped, partitionStuck, partitionWaiting, fetchLoopAge } = metrics.gauges;
    fetchLoopAge.set(loopAgeMs / 1_000);
    for (const gauge of [partitionStopped, partitionStuck, partitionWaiting]) gauge.reset();
    for (const [partition, { state, error, stuckMs }] of partitions) {
      const isForOperator = error !== undefined && needsOperator(error);
      partitionStopped.set({ partition }, Number(state === 'failed' || isForOperator));
      partitionStuck.set({ partition }, stuckMs / 1_000);
      partitionWaiting.set({ partition, reason: 'recovering' }, Number(waiting().has(partition)));
    }
  }

  async #setStore(): Promise<void> {
    const { metrics, patienceMs = RETRY_FOR_MS } = this.options;
    const done = new AbortController();
    const tooLate = delay(patienceMs, undefined, { signal: done.signal }).catch(() => undefined);
    const facts = await Promise.race([this.#read(), tooLate]);
    done.abort();
    if (facts === undefined) forgetStoreFacts(metrics);
    else setStoreFacts(metrics, facts);
  }

  /** undefined when Redis is away. One at a time: those who come meanwhile get the same answer. */
  async #read(): Promise<StoreFacts | undefined> {
    this.#reading ??= this.options.readStore().finally(() => (this.#reading = undefined));
    return this.#reading.catch(() => undefined); // ranklog_redis_up says so
  }
}
