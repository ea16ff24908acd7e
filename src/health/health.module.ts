import { Controller, Get, HttpStatus, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { TransportModule } from '../ingest/transport.module.js';
import { HealthService, type HealthReport } from './health.js';

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
