import 'reflect-metadata';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BoardStore, ContinuityStore, KeySpace } from '#board-store';
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
import { ProgressWatch } from './operations/progress-watch.js';
import { requireTopics } from './operations/topics.js';
import { nestLogger, type Logger } from './operations/logger.js';
import type { Settings } from './operations/settings.js';
import { BoardRegistrar } from './reconciliation/board-registrar.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RegistrationWatch } from './reconciliation/registration-watch.js';
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
  const { settings, roles, logger, signal } = options;
  const kafka = kafkaFrom(settings, logger);
  const redis = redisFrom(settings, logger);
  const clients = new Clients(redis, kafka.admin());
  try {
    await waitForServices(settings, { kafka: true, redis, signal }, logger);
    await clients.admin.connect();
    await requireTopics(clients.admin, topicNames(settings.topicPrefix));
    const modules = roleModules(options, kafka, clients);
    const nest = { logger: nestLogger(logger), abortOnError: false };
    const module = AppModule.of([ClientsModule.with(clients), ...modules]);
    if (!roles.includes('ingest')) return await NestFactory.createApplicationContext(module, nest);
    const strategy = transport(options, kafka);
    const app = await NestFactory.createMicroservice(module, { ...nest, strategy });
    signal.throwIfAborted();
    await app.listen();
    watchProgress(options, strategy);
    return app;
  } catch (error) {
    await clients.admin.disconnect();
    redis.disconnect();
    throw error;
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
  const registrar = new BoardRegistrar(store, settings.boards, logger);
  const registers = roles.includes('reconciliation');
  const boards = new LiveBoards(store, async () => {
    if (registers) await registrar.register();
  });
  const scoreLog = new ScoreLog(kafka, admin, topicNames(settings.topicPrefix).scoreEvents);
  const resultLog = new ResultLog(kafka, admin, settings);
  const losses = new Losses(
    new ContinuityStore(redis, keys, settings),
    async () => finalPositions(resultLog, store, await scoreLog.partitions()),
    logger,
  );
  const services = new IngestServices({ store, boards, losses, scoreLog, resultLog });
  const sweeper = new Sweeper(store, boards, logger);
  return [
    ...(registers
      ? [ReconciliationModule.with(registrar, new RegistrationWatch(registrar, logger))]
      : []),
    ...(roles.includes('ingest') ? [IngestModule.with(services, sweeper)] : []),
  ];
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
    waitsForPeople: (error) =>
      error instanceof ResultPartitionMissingError || error instanceof NoLiveBoardsError,
    logger,
    onFatal,
  });
  watch.start(signal);
}
