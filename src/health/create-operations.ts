import type { DynamicModule } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { BoardStore, ContinuityStore, GenerationCatalog, KeySpace, LeaseStore } from '#board-store';
import type { ConsumerHealth } from '#kafka-batch';
import type { Metrics } from '../metrics/metrics.js';
import { MetricsCollector } from '../metrics/metrics-collector.js';
import { readStoreFacts } from '../metrics/store-facts.js';
import type { Settings } from '../config/settings.js';
import { HealthProbe } from './health.controller.js';
import { OperationsModule } from './operations.module.js';
import { Reconciliations } from '../generations/reconciliations.js';

export interface OperationsParts {
  readonly settings: Settings;
  readonly redis: Redis;
  readonly metrics: Metrics;
  /** Missing in a process without the role ingest. */
  readonly consumer?: () => ConsumerHealth;
  readonly waiting: () => ReadonlySet<number>;
  readonly isRunning: () => boolean;
  /** Whether the partition needs operator action. */
  readonly needsOperator: (error: Error) => boolean;
}

/** What operators can ask of this process. */
export function createOperations(parts: OperationsParts): DynamicModule {
  const { settings, redis, metrics, consumer, waiting, isRunning, needsOperator } = parts;
  const keys = new KeySpace(settings.redisPrefix);
  const statuses = new LeaseStore(redis, keys, settings);
  const sources = {
    store: new BoardStore(redis, keys, settings),
    continuity: new ContinuityStore(redis, keys, settings),
    catalog: new GenerationCatalog(redis, keys, settings),
    statuses,
  };
  const probe = new HealthProbe(() => ({
    isRunning: isRunning(),
    redis: redis.status,
    ...(consumer === undefined ? {} : { consumer: consumer() }),
    waiting: waiting(),
    longestLoopAgeMs: settings.sessionTimeout,
  }));
  const collector = new MetricsCollector({
    metrics,
    ...(consumer === undefined ? {} : { consumer }),
    waiting,
    needsOperator,
    readStore: () => readStoreFacts(sources),
  });
  return OperationsModule.with(probe, collector, new Reconciliations(statuses));
}
