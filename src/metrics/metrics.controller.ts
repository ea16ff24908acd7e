import { Controller, Get, Header } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MetricsCollector } from './metrics-collector.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly collector: MetricsCollector) {}

  /** In the text format of Prometheus. */
  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.collector.scrape();
  }
}
