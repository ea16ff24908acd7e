import { Controller, Get, Header, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { TransportModule } from '../ingest/transport.module.js';
import { MetricsCollector } from './metrics-collector.js';
import { Metrics } from './metrics.js';
import { StoreReader } from './store-facts.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly collector: MetricsCollector) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.collector.scrape();
  }
}

@Module({
  imports: [TransportModule],
  controllers: [MetricsController],
  providers: [Metrics, MetricsCollector, StoreReader],
  exports: [Metrics],
})
export class MetricsModule {}
