import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { healthOf, type HealthFacts, type HealthReport } from './health.js';

/** Asked anew for each request; costs no request of its own. */
export class HealthProbe {
  constructor(readonly facts: () => HealthFacts) {}
}

@Controller('health')
export class HealthController {
  constructor(private readonly probe: HealthProbe) {}

  /** 200 when all is well, else 503. */
  @Get()
  health(@Res({ passthrough: true }) reply: FastifyReply): HealthReport {
    const report = healthOf(this.probe.facts());
    void reply.code(report.status === 'ok' ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }
}
