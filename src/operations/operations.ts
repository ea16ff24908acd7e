import { Module, type INestApplicationContext } from '@nestjs/common';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { Registry } from 'prom-client';
import { ProblemError } from '#problems';
import type { ProcessOptions } from '../infra/config.module.js';
import { TransportModule } from '../ingest/transport.module.js';
import { TIME_LIMITS } from '../query/http/http-server.js';
import { EventMetrics } from './event-metrics.js';
import { HealthService, type HealthReport } from './health.js';
import { MetricsCollector, StoreReader } from './metrics-collector.js';

/** The part of a health report that every probe answers. */
type Probe = Pick<HealthReport, 'status' | 'problems'>;

/** Health and metrics, for supervisors and Prometheus. */
@Module({
  imports: [TransportModule],
  providers: [HealthService, StoreReader, MetricsCollector, EventMetrics],
})
export class OperationsModule {}

/**
 * The server of probes and Prometheus, without tokens. It listens before Kafka and Redis answer, so
 * that probes get the reason of a long start. `app` returns undefined until Kafka and Redis answer.
 */
export function createOperationsServer(
  { roles, start }: ProcessOptions,
  app: () => INestApplicationContext | undefined,
): FastifyInstance {
  const server = fastify({ forceCloseConnections: true, ...TIME_LIMITS });
  const answer = (reply: FastifyReply, report: Probe) =>
    reply.code(report.status === 'ok' ? 200 : 503).send(report);
  const ok: Probe = { status: 'ok', problems: [] };
  const startup = (): Probe =>
    start?.waitsFor ? { status: 'starting', problems: [start.waitsFor] } : ok;

  // A process that can't go on ends by itself: see progress-watch.ts.
  server.get('/health/live', () => ok);
  server.get('/health/startup', (_, reply) => answer(reply, startup()));
  server.get<{ Querystring: { role?: unknown } }>('/health/ready', ({ query }, reply) => {
    const role = roles.find((known) => known === query.role);
    if (role === undefined && query.role !== undefined) {
      const given = JSON.stringify(query.role).slice(0, 80);
      const problem = `role must be one role of this process (${roles.join(', ')}), not ${given}`;
      return reply.code(400).send(new ProblemError('INVALID_REQUEST', problem));
    }
    return answer(reply, app()?.get(HealthService).report(role) ?? startup());
  });

  server.get('/metrics', async (_, reply) => {
    const metrics = await app()?.get(MetricsCollector).scrape();
    if (metrics === undefined) return answer(reply, startup());
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(metrics);
  });
  return server;
}
