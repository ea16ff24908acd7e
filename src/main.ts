import 'reflect-metadata';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { topicNames } from '#contracts';
import type { KafkaBatchServer } from '#kafka-batch/nest';
import { IngestModule, ingestTransport, needsOperator } from './ingest/ingest.module.js';
import { PartitionWaits } from './ingest/partition-waits.js';
import { Clients, ClientsModule } from './infra/clients.module.js';
import { redisFrom, waitForServices } from './infra/clients.js';
import { createOperations } from './health/create-operations.js';
import { createHttpApplication, listen } from './infra/http-server.js';
import { kafkaFrom } from './infra/kafka-client.js';
import { nestLogger, type Logger } from './infra/logger.js';
import { Metrics } from './metrics/metrics.js';
import { ProgressWatch } from './health/progress-watch.js';
import type { Settings } from './config/settings.js';
import { checkScoreTopic, requireTopics } from './infra/topics.js';
import { identityOf, partsOf, type Parts } from './parts.js';
import { ReconciliationModule } from './maintenance/reconciliation.module.js';
import type { Role } from './config/roles.js';

export interface StartOptions {
  readonly settings: Settings;
  readonly roles: readonly Role[];
  readonly logger: Logger;
  /** Aborted when the process is to end: a start that is still under way is given up. */
  readonly signal: AbortSignal;
  /** Called when the process can't go on and should end with an error. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Starts the roles in this process; resolves when they run. `close` finishes what is in flight.
 * @throws ServiceUnreachableError, BoardsFileError, OtherIdentityError, whatever wiring gets wrong,
 *   and the reason of the signal when that is aborted
 */
export async function startApplication(options: StartOptions): Promise<INestApplicationContext> {
  const { settings, logger, signal } = options;
  const kafka = kafkaFrom(settings, logger);
  const redis = redisFrom(settings, logger);
  const clients = new Clients(redis, kafka.admin());
  try {
    await waitForServices(settings, { kafka: true, redis, signal }, logger);
    await clients.admin.connect();
    const { admin } = clients;
    const topics = topicNames(settings.topicPrefix);
    await requireTopics(admin, topics);
    await checkScoreTopic(admin, topics.scoreEvents, settings, logger);
    const identity = await identityOf(settings, admin);
    const parts = partsOf(options, { kafka, redis, admin, identity });
    if (!options.roles.includes('reconciliation')) await parts.registrar.claim(); // that role claims when it registers
    const application = await runApplication(options, parts, clients);
    identity.onOther = (error) => {
      logger.error(error.message, { error });
      options.onFatal(error);
    };
    return application;
  } catch (error) {
    await clients.admin.disconnect();
    redis.disconnect();
    throw error;
  }
}

/** The HTTP server is there first, so that a port that is taken is told before anything is read from the log. */
async function runApplication(
  options: StartOptions,
  parts: Parts,
  clients: Clients,
): Promise<INestApplicationContext> {
  const { settings, roles, logger, signal, onFatal } = options;
  const strategy = roles.includes('ingest') ? ingestTransport(parts, onFatal) : undefined;
  const metrics = new Metrics();
  const waits = new PartitionWaits(parts.continuity, logger);
  let isRunning = false;
  const operations = createOperations({
    settings,
    redis: clients.redis,
    metrics,
    ...(strategy && { consumer: () => strategy.health() }),
    waiting: () => waits.current,
    isRunning: () => isRunning,
    needsOperator,
  });
  const shared = { parts, metrics, waits };
  const modules = [ClientsModule.with(clients), operations, ...roleModules(roles, shared)];
  const nest = { logger: nestLogger(logger), abortOnError: false };
  const app = await createHttpApplication(AppModule.of(modules), nest, logger);
  try {
    if (strategy !== undefined) app.connectMicroservice({ strategy });
    await app.init(); // a microservice that is started before would read before boards are registered
    signal.throwIfAborted();
    await listen(app, settings, logger);
    await app.startAllMicroservices();
  } catch (error) {
    await closeAfter(error, app, logger);
    throw error;
  }
  if (strategy !== undefined) watchProgress(options, strategy);
  isRunning = true;
  return app;
}

interface SharedByRoles {
  readonly parts: Parts;
  readonly metrics: Metrics;
  readonly waits: PartitionWaits;
}

function roleModules(
  roles: readonly Role[],
  { parts, metrics, waits }: SharedByRoles,
): DynamicModule[] {
  const registers = roles.includes('reconciliation');
  return [
    ...(registers ? [ReconciliationModule.of(parts, metrics)] : []),
    ...(roles.includes('ingest') ? [IngestModule.of(parts, { registers, waits })] : []),
  ];
}

/** What was started would hold the process. The error of the start is the one to tell. */
async function closeAfter(
  failure: unknown,
  app: INestApplicationContext,
  logger: Logger,
): Promise<void> {
  try {
    await app.close();
  } catch (error) {
    logger.debug('closing failed, too', { failure, error });
  }
}

@Module({})
class AppModule {
  static of(imports: DynamicModule[]): DynamicModule {
    return { module: AppModule, imports };
  }
}

function watchProgress(
  { settings, signal, logger, onFatal }: StartOptions,
  strategy: KafkaBatchServer,
): void {
  const watch = new ProgressWatch({
    topic: topicNames(settings.topicPrefix).scoreEvents,
    stallTimeoutMs: settings.stallTimeout,
    health: () => strategy.health(),
    needsOperator,
    logger,
    onFatal,
  });
  watch.start(signal);
}
