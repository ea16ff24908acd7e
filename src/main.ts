import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IdentityCheck } from '#board-store';
import { toError } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import type { Role } from './config/roles.js';
import { ReconciliationsModule } from './generations/reconciliations.controller.js';
import { HealthModule } from './health/health.module.js';
import { HealthService } from './health/health.js';
import { ConfigModule, type ProcessOptions } from './infra/config.module.js';
import { ConnectionsModule } from './infra/connections.module.js';
import { createHttpApplication, listen } from './infra/http-server.js';
import { KafkaConnection } from './infra/kafka.js';
import type { Shutdown } from './infra/shutdown.js';
import { checkScoreTopic } from './infra/topics.js';
import { IngestModule } from './ingest/ingest.module.js';
import { LiveBoards } from './ingest/live-boards.js';
import { ReconciliationModule } from './maintenance/reconciliation.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { BoardRegistrar } from './registry/board-registrar.js';
import { describeRoutes } from './standings/openapi.js';
import { StandingsModule } from './standings/standings.module.js';
import { WritesModule } from './writes/writes.module.js';

const ROLE_MODULES: Readonly<Record<Role, Type>> = {
  ingest: IngestModule,
  reconciliation: ReconciliationModule,
  query: StandingsModule,
};

const BOARDS_RETRY_MS = 500;

@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(options),
        ConnectionsModule,
        HealthModule,
        MetricsModule,
        ReconciliationsModule,
        ...options.roles.map((role) => ROLE_MODULES[role]),
        ...(options.roles.includes('query') && options.settings.queryWrites ? [WritesModule] : []),
      ],
    };
  }
}

export type StartOptions = ProcessOptions & { readonly shutdown: Shutdown };

/**
 * Starts the roles in this process; resolves when they run. `close` of the application finishes what is in flight.
 * @throws ServiceUnreachableError, TopicsMissingError, ScoreTopicError, BoardsFileError, OtherIdentityError, SettingsError,
 *   BoardsFileMissingError, and the reason of the shutdown signal if it is aborted during the start
 */
export async function startApplication(options: StartOptions): Promise<NestFastifyApplication> {
  const { logger } = options;
  const app = await createHttpApplication(AppModule.forRoot(options), logger, options.settings);
  try {
    await start(app, options);
    return app;
  } catch (error) {
    await app.close().catch((failure: unknown) => logger.debug('closing failed too', { failure }));
    throw error;
  }
}

/** Registers the boards (without the role reconciliation, only claims Redis and Kafka), listens, then lets ingest read. */
async function start(app: NestFastifyApplication, options: StartOptions): Promise<void> {
  const { settings, roles, logger, shutdown } = options;
  const { admin, topics } = app.get(KafkaConnection);
  await checkScoreTopic(admin, topics.scoreEvents, settings, logger);
  if (!roles.includes('reconciliation')) await app.get(BoardRegistrar).claim();
  if (roles.includes('ingest')) app.connectMicroservice({ strategy: app.get(KafkaBatchServer) });
  if (roles.includes('query')) await describeRoutes(app);
  await app.init();
  shutdown.signal.throwIfAborted();
  await listen(app, settings, logger);
  if (roles.includes('ingest')) await untilBoardsWork(app, options);
  await app.startAllMicroservices();
  app.get(HealthService).isRunning = true;
  app.get(IdentityCheck).onOther = (error) => {
    logger.error(error.message, { error });
    shutdown.fail();
  };
}

/** Until events can be applied here, other instances keep the partitions. */
async function untilBoardsWork(
  app: NestFastifyApplication,
  { logger, shutdown: { signal } }: StartOptions,
): Promise<void> {
  const health = app.get(HealthService);
  const boards = app.get(LiveBoards);
  for (;;)
    try {
      await boards.refresh();
      health.blocker = undefined;
      return;
    } catch (error) {
      const { message } = toError(error);
      if (health.blocker !== message) logger.warn(`ingest takes no partitions yet: ${message}`);
      health.blocker = message;
      await delay(BOARDS_RETRY_MS, undefined, { signal });
    }
}
