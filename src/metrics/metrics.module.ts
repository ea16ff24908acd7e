import { Module } from '@nestjs/common';
import { TransportModule } from '../ingest/transport.module.js';
import { MetricsCollector } from './metrics-collector.js';
import { Metrics } from './metrics.js';
import { StoreReader } from './store-facts.js';

@Module({
  imports: [TransportModule],
  providers: [Metrics, MetricsCollector, StoreReader],
  exports: [Metrics, MetricsCollector],
})
export class MetricsModule {}
