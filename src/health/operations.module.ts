import { Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import { MetricsCollector } from '../metrics/metrics-collector.js';
import { HealthController, HealthProbe } from './health.controller.js';
import { MetricsController } from '../metrics/metrics.controller.js';
import { Reconciliations } from '../generations/reconciliations.js';
import { ReconciliationsController } from '../generations/reconciliations.controller.js';

/** What operators ask of a running process, over HTTP. */
@Module({})
export class OperationsModule implements BeforeApplicationShutdown {
  static with(
    probe: HealthProbe,
    collector: MetricsCollector,
    reconciliations: Reconciliations,
  ): DynamicModule {
    return {
      module: OperationsModule,
      controllers: [HealthController, MetricsController, ReconciliationsController],
      providers: [
        { provide: HealthProbe, useValue: probe },
        { provide: MetricsCollector, useValue: collector },
        { provide: Reconciliations, useValue: reconciliations },
      ],
    };
  }

  constructor(private readonly reconciliations: Reconciliations) {}

  /** Before the HTTP server is closed: streams would hold it. */
  beforeApplicationShutdown(): void {
    this.reconciliations.stop();
  }
}
