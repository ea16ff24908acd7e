import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BoardStore, IdentityCheck } from '#board-store';
import { toError } from '#errors';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { AppModule } from './app.module.js';
import type { ProcessOptions } from './infra/config.module.js';
import { DefinitionsTopic } from './infra/definitions-topic.js';
import { claimIdentity, withGroup } from './infra/identity.js';
import { KafkaConnection } from './infra/kafka.js';
import { isRedisUnavailable, RedisClients } from './infra/redis.js';
import type { Shutdown } from './infra/shutdown.js';
import { Stores } from './infra/stores.js';
import { checkScoreTopic } from './infra/topics.js';
import { LiveBoards } from './ingest/live-boards.js';
import { createOperationsServer } from './operations/operations.js';
import { createHttpApplication, listen } from './query/http/http-server.js';
import { describeRoutes } from './query/http/openapi.js';
import { requiredTokens } from './query/http/required-tokens.js';
import { BoardRegistrar } from './reconciliation/boards/board-registrar.js';
import { announcementProblems } from './reconciliation/boards/announcement-problems.js';

const BOARDS_RETRY_MS = 500;
const CLAIM_RETRY_MS = 5_000;

export type StartOptions = Omit<ProcessOptions, 'start'> & { readonly shutdown: Shutdown };
type Starting = StartOptions & Required<Pick<ProcessOptions, 'start'>>;

/**
 * Starts the roles in this process; resolves when they run. `close` of the application finishes
 * what is in flight.
 * @throws ServiceUnreachableError, TopicsMissingError, ScoreTopicError, BoardsFileError,
 * OtherIdentityError, SettingsError, BoardsFileMissingError, and the reason of the shutdown signal
 * if it is aborted during the start
 */
export async function startApplication(given: StartOptions): Promise<{ close(): Promise<void> }> {
  const { settings, roles, logger } = given;
  const tokens = roles.includes('query') ? await requiredTokens(settings, logger) : undefined;
  const options = { ...given, start: { waitsFor: 'Kafka and Redis have not answered yet' } };

  let app: NestFastifyApplication | undefined;
  const operations = createOperationsServer(options, () => app);
  const close = async () => {
    await app?.close();
    await operations.close(); // last, as probes go on during a shutdown
  };

  try {
    await listen(operations, settings, 'operations', logger);
    const { httpCors } = settings;
    app = await createHttpApplication(AppModule.forRoot(options), logger, { httpCors, tokens });
    await start(app, options);
    return { close };
  } catch (error) {
    await close().catch((failure: unknown) => logger.debug('closing failed too', { failure }));
    throw error;
  }
}

/**
 * Registers the boards, listens, then lets ingest read. A process without the role reconciliation
 * registers no boards: it only claims Redis and Kafka.
 */
async function start(app: NestFastifyApplication, options: Starting): Promise<void> {
  const { settings, roles, logger, shutdown } = options;
  const { admin, topics } = app.get(KafkaConnection);
  options.start.waitsFor = 'the roles are starting';

  const warnings = await checkScoreTopic(admin, topics.scoreEvents, settings);
  for (const warning of warnings) logger.warn(warning);

  if (!roles.includes('reconciliation')) await claim(app, options);
  if (roles.includes('ingest')) app.connectMicroservice({ strategy: app.get(KafkaBatchServer) });
  if (roles.includes('query')) describeRoutes(app);

  await app.init();
  shutdown.signal.throwIfAborted();

  if (roles.includes('reconciliation')) await warnOfAnnouncements(app, options);
  if (roles.includes('query'))
    await listen(app.getHttpAdapter().getInstance(), settings, 'http', logger);
  if (roles.includes('ingest')) await untilBoardsWork(app, options);

  await app.startAllMicroservices();
  options.start.waitsFor = undefined;
  app.get(IdentityCheck).onOther = (error) => {
    logger.error(error.message, { error });
    shutdown.fail();
  };
}

/**
 * For reads alone, a process also starts while a shard of a Redis Cluster waits, and claims it
 * later.
 */
async function claim(app: NestFastifyApplication, options: Starting): Promise<void> {
  const [store, definitions] = [app.get(BoardStore), app.get(DefinitionsTopic)];
  try {
    await claimIdentity(store, definitions);
  } catch (error) {
    const { roles, logger, shutdown } = options;
    const isForReads = !roles.includes('ingest') && app.get(RedisClients).main.isCluster;
    if (!isForReads || !isRedisUnavailable(error)) throw error;
    logger.warn(`not all of Redis is compared with the settings yet: ${toError(error).message}`);
    void claimLater(() => claimIdentity(store, definitions), shutdown.signal);
  }
}

/** If the settings are those of another ranklog, the IdentityCheck ends the process. */
async function claimLater(claimAll: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await delay(CLAIM_RETRY_MS, undefined, { signal });
      await claimAll();
      return;
    } catch (error) {
      if (!isRedisUnavailable(error)) return;
    }
  }
}

/** Logs why closing windows can't be announced. Boards work without that, so the start goes on. */
async function warnOfAnnouncements(
  app: NestFastifyApplication,
  { settings: given, logger }: Starting,
): Promise<void> {
  const settings = await withGroup(given, Promise.resolve(app.get(IdentityCheck)));
  const subject = { settings, connection: app.get(KafkaConnection) };
  try {
    const problems = await announcementProblems(subject, app.get(Stores).status);
    for (const problem of problems) logger.warn(problem);
  } catch (error) {
    logger.warn(`closing windows can't be checked: ${toError(error).message}`);
  }
}

/**
 * Waits until this process can apply events. Until then it takes no partitions, so that other
 * instances keep them.
 */
async function untilBoardsWork(
  app: NestFastifyApplication,
  { logger, roles, start, shutdown: { signal } }: Starting,
): Promise<void> {
  const boards = app.get(LiveBoards);
  if (roles.includes('reconciliation')) boards.registerBy(app.get(BoardRegistrar));
  for (;;) {
    try {
      await boards.refresh();
      return;
    } catch (error) {
      const { message } = toError(error);
      if (start.waitsFor !== message) logger.warn(`ingest takes no partitions yet: ${message}`);
      start.waitsFor = message;
      await delay(BOARDS_RETRY_MS, undefined, { signal });
    }
  }
}
