import 'reflect-metadata';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import {
  BoardStore,
  ContinuityStore,
  GenerationCatalog,
  KeySpace,
  LeaseStore,
  SampleStore,
} from '#board-store';
import { topicNames } from '#contracts';
import { KafkaBatchServer } from '#kafka-batch';
import { IngestModule } from './ingest/ingest.module.js';
import { IngestServices } from './ingest/ingest-services.js';
import { finalPositions } from './ingest/final-positions.js';
import { LiveBoards, NoLiveBoardsError } from './ingest/live-boards.js';
import { Losses } from './ingest/losses.js';
import { ResultLog, ResultPartitionMissingError } from './ingest/result-log.js';
import { ScoreLog } from './ingest/score-log.js';
import { Sweeper } from './ingest/sweeper.js';
import { Clients, ClientsModule } from './operations/clients.module.js';
import { kafkaFrom, redisFrom, waitForServices } from './operations/clients.js';
import { createOperations } from './operations/http/create-operations.js';
import { createHttpApplication, listen } from './operations/http/http-server.js';
import { Metrics } from './operations/metrics.js';
import { ProgressWatch } from './operations/progress-watch.js';
import { requireTopics } from './operations/topics.js';
import { nestLogger, type Logger } from './operations/logger.js';
import type { Settings } from './operations/settings.js';
import { BackgroundBuildModule } from './reconciliation/background-build.module.js';
import { BackgroundBuilder } from './reconciliation/background-builder.js';
import { BoardRegistrar } from './reconciliation/board-registrar.js';
import { DefinitionsTopic } from './reconciliation/definitions-topic.js';
import { GenerationSweeper } from './reconciliation/generation-sweeper.js';
import { reconcilerFrom } from './reconciliation/reconciler-from.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RegistrationWatch } from './reconciliation/registration-watch.js';
import { VerifySchedule } from './reconciliation/schedule.js';
import { ScheduleModule } from './reconciliation/schedule.module.js';
import { ScheduledVerify } from './reconciliation/schedule-verify.js';
import { SelfCheck } from './reconciliation/self-check.js';
import { SelfCheckModule } from './reconciliation/self-check.module.js';
import type { Role } from './roles.js';

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
 * @throws ServiceUnreachableError, BoardsFileError, ShardCountError, whatever wiring gets wrong,
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
    await requireTopics(clients.admin, topicNames(settings.topicPrefix));
    return await runApplication(options, kafka, clients);
  } catch (error) {
    await clients.admin.disconnect();
    redis.disconnect();
    throw error;
  }
}

/** The HTTP server is there first, so that a port that is taken is told before anything is read from the log. */
async function runApplication(
  options: StartOptions,
  kafka: ReturnType<typeof kafkaFrom>,
  clients: Clients,
): Promise<INestApplicationContext> {
  const { settings, roles, logger, signal } = options;
  const strategy = roles.includes('ingest') ? transport(options, kafka) : undefined;
  const metrics = new Metrics();
  let isRunning = false;
  const operations = createOperations({
    settings,
    redis: clients.redis,
    metrics,
    ...(strategy && { consumer: () => strategy.health() }),
    isRunning: () => isRunning,
    waitsForPeople,
  });
  const modules = [
    ClientsModule.with(clients),
    operations,
    ...roleModules(options, kafka, clients),
    ...watchModules(options, kafka, clients, metrics),
  ];
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

function roleModules(
  { settings, roles, logger }: StartOptions,
  kafka: ReturnType<typeof kafkaFrom>,
  { redis, admin }: Clients,
): DynamicModule[] {
  const keys = new KeySpace(settings.redisPrefix);
  const store = new BoardStore(redis, keys, settings);
  const topics = topicNames(settings.topicPrefix);
  const definitions = new DefinitionsTopic(kafka, admin, topics.definitions, logger);
  const continuity = new ContinuityStore(redis, keys, settings);
  const registrar = new BoardRegistrar(
    { store, continuity, definitions, log: logger },
    settings.boards,
  );
  const registers = roles.includes('reconciliation');
  const boards = new LiveBoards(store, async () => {
    if (registers) await registrar.register();
  });
  const scoreLog = new ScoreLog(kafka, admin, topics.scoreEvents);
  const resultLog = new ResultLog(kafka, admin, settings);
  const losses = new Losses(
    continuity,
    {
      finalPositions: async () => finalPositions(resultLog, store, await scoreLog.partitions()),
      definitionsInForce: () => definitions.readAll(),
    },
    logger,
  );
  const services = new IngestServices({ store, boards, losses, scoreLog, resultLog });
  const sweeper = new Sweeper(store, boards, logger);
  return [
    ...(registers
      ? [
          ReconciliationModule.with(registrar, new RegistrationWatch(registrar, logger)),
          backgroundBuild(settings, { kafka, admin, redis }, { registrar, logger }),
        ]
      : []),
    ...(roles.includes('ingest') ? [IngestModule.with(services, sweeper)] : []),
  ];
}

function backgroundBuild(
  settings: Settings,
  connections: Parameters<typeof reconcilerFrom>[1],
  { registrar, logger }: { readonly registrar: BoardRegistrar; readonly logger: Logger },
): DynamicModule {
  const { redis } = connections;
  const keys = new KeySpace(settings.redisPrefix);
  const store = new BoardStore(redis, keys, settings);
  const reconciler = reconcilerFrom(settings, connections, logger);
  const builder = new BackgroundBuilder({ store, reconciler, registrar, log: logger });
  const catalog = new GenerationCatalog(redis, keys, settings);
  return BackgroundBuildModule.with(builder, new GenerationSweeper(catalog, logger));
}

/** What the role reconciliation does to notice damage. */
function watchModules(
  options: StartOptions,
  kafka: ReturnType<typeof kafkaFrom>,
  clients: Clients,
  metrics: Metrics,
): DynamicModule[] {
  if (!options.roles.includes('reconciliation')) return [];
  return [selfCheck(options, clients, metrics), schedule(options, kafka, clients, metrics)];
}

function selfCheck(
  { settings, logger }: StartOptions,
  { redis }: Clients,
  { counters }: Metrics,
): DynamicModule {
  const keys = new KeySpace(settings.redisPrefix);
  const check = new SelfCheck({
    store: new BoardStore(redis, keys, settings),
    samples: new SampleStore(redis, keys, settings),
    counters,
    log: logger,
    everyMs: settings.selfCheckInterval,
  });
  return SelfCheckModule.with(check);
}

function schedule(
  { settings, logger }: StartOptions,
  kafka: ReturnType<typeof kafkaFrom>,
  { redis, admin }: Clients,
  { gauges }: Metrics,
): DynamicModule {
  const keys = new KeySpace(settings.redisPrefix);
  const verify = new ScheduledVerify({
    store: new BoardStore(redis, keys, settings),
    leases: new LeaseStore(redis, keys, settings),
    reconciler: reconcilerFrom(settings, { kafka, admin, redis }, logger),
    gauges,
    log: logger,
    rebuilds: settings.verifyRebuild,
  });
  const { verifySchedule: expression, verifyTimeZone: timeZone } = settings;
  return ScheduleModule.with(new VerifySchedule({ expression, timeZone, verify, log: logger }));
}

function transport(
  { settings, logger, onFatal }: StartOptions,
  kafka: ReturnType<typeof kafkaFrom>,
) {
  return new KafkaBatchServer({
    kafka,
    groupId: settings.group,
    topic: topicNames(settings.topicPrefix).scoreEvents,
    consumer: {
      sessionTimeout: settings.sessionTimeout,
      heartbeatInterval: Math.min(1_000, settings.sessionTimeout / 3),
    },
    connectTimeoutMs: settings.startTimeout,
    logger,
    onFatal,
  });
}

function watchProgress(
  { settings, signal, logger, onFatal }: StartOptions,
  strategy: KafkaBatchServer,
): void {
  const watch = new ProgressWatch({
    topic: topicNames(settings.topicPrefix).scoreEvents,
    stallTimeoutMs: settings.stallTimeout,
    health: () => strategy.health(),
    waitsForPeople,
    logger,
    onFatal,
  });
  watch.start(signal);
}

function waitsForPeople(error: Error): boolean {
  return error instanceof ResultPartitionMissingError || error instanceof NoLiveBoardsError;
}
