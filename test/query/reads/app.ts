import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Redis } from 'ioredis';
import { BoardReader, IdentityCheck } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import { topicNames } from '#contracts';
import { SETTINGS } from '../../../src/infra/config.module.js';
import { ReadStores } from '../../../src/infra/connections.module.js';
import { KafkaConnection } from '../../../src/infra/kafka.js';
import { Logger } from '../../../src/infra/logger.js';
import { Metrics } from '../../../src/infra/metrics.js';
import { createHttpApplication } from '../../../src/query/http/http-server.js';
import { describeRoutes } from '../../../src/query/http/openapi.js';
import { LiveStreams } from '../../../src/query/live/live-streams.js';
import { READ_CONTROLLERS } from '../../../src/query/query.module.js';
import { KeptPeriods } from '../../../src/query/status/periods.controller.js';
import { WRITE_CONTROLLERS } from '../../../src/query/writes/writes.module.js';
import { loggerTo } from '../../support/loggers.js';

@Module({})
class App {}

/** Takes all requests for streams, and sends nothing: see test/query/live. */
const STREAMS: Pick<LiveStreams, 'standings' | 'rankChanges' | 'heldChanges'> = {
  standings: (reply) => Promise.resolve(void reply.send()),
  rankChanges: (reply) => Promise.resolve(void reply.send()),
  heldChanges: () => Promise.resolve({ heldSince: null, changes: [] }),
};

/** Topics without partitions, for the status: see test/cli. */
const nothing = () => Promise.resolve([]);
const createCluster = () => ({
  connect: nothing,
  disconnect: nothing,
  addMultipleTargetTopics: nothing,
  refreshMetadata: nothing,
  findTopicPartitionMetadata: () => [],
});
const KAFKA: object = {
  topics: topicNames('none'),
  admin: { fetchOffsets: nothing },
  kafka: { [Symbol('private:Kafka:createCluster')]: createCluster },
};

/** Sends nothing: see test/query/writes. */
const PRODUCER: Pick<ScoreProducer, 'send'> = { send: () => Promise.resolve([]) };

const MODERATION: Pick<ModerationProducer, 'send'> = {
  send: () => Promise.resolve([{ topic: 'none', partition: 0, offset: 0, time: 0 }]),
};

export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly reader: BoardReader;
  /** Lines that were logged at the levels warn and error. */
  readonly logged: string[];
}

/** The application of the role `query` on one Redis. `queryCache` in ms; `kafka`: a connection. */
export async function openApp(
  { redis, prefix }: { redis: Redis; prefix: string },
  { queryCache = 0, httpCors = [] as string[], kafka = KAFKA, group = '' } = {},
): Promise<TestApp> {
  const logged: string[] = [];
  const logger = loggerTo((message, level) => {
    if (level === 'error' || level === 'warn') logged.push(message);
  });
  const reader = new BoardReader({ redis, prefix });
  const module = {
    module: App,
    controllers: [...READ_CONTROLLERS, ...WRITE_CONTROLLERS],
    providers: [
      { provide: BoardReader, useValue: reader },
      { provide: ScoreProducer, useValue: PRODUCER },
      { provide: ModerationProducer, useValue: MODERATION },
      { provide: LiveStreams, useValue: STREAMS },
      KeptPeriods,
      Metrics,
      { provide: ReadStores, useValue: new ReadStores(redis, { redisPrefix: prefix, shards: 1 }) },
      { provide: KafkaConnection, useValue: kafka },
      { provide: IdentityCheck, useValue: new IdentityCheck({ group }) },
      { provide: SETTINGS, useValue: { queryCache, clockTolerance: 60_000 } },
      { provide: Logger, useValue: logger },
    ],
  };
  const app = await createHttpApplication(module, logger, { httpCors });
  describeRoutes(app);
  await app.init();
  return { app, reader, logged };
}
