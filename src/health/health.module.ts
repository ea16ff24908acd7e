import { Controller, Get, HttpStatus, Inject, Injectable, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Redis } from 'ioredis';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { IngestStatus, TransportModule } from '../ingest/transport.module.js';
import { healthReport, type HealthReport } from './health.js';

@Injectable()
export class HealthService {
  /** Whether all roles of the process have started. */
  isRunning = false;

  constructor(
    private readonly redis: Redis,
    private readonly ingest: IngestStatus,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Sends no request to Kafka or Redis. */
  report(): HealthReport {
    return healthReport({
      isRunning: this.isRunning,
      redis: this.redis.status,
      consumer: this.ingest.consumer,
      waiting: this.ingest.waiting,
      maxLoopAgeMs: this.settings.sessionTimeout,
    });
  }
}

@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** 200 when all is well, else 503. */
  @Get()
  report(@Res({ passthrough: true }) reply: FastifyReply): HealthReport {
    const report = this.health.report();
    void reply.code(report.status === 'ok' ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }
}

@Module({
  imports: [TransportModule],
  controllers: [HealthController],
  providers: [HealthService],
  exports: [HealthService],
})
export class HealthModule {}
