import 'reflect-metadata';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { BoardReader, IdentityCheck } from '#board-store';
import { ConfigModule } from '../infra/config.module.js';
import { ConnectionsModule, STORES, type Stores } from '../infra/connections.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { nestLogger } from '../infra/logger.js';
import { ReconcilerModule } from '../maintenance/reconciler.module.js';
import { Reconciler } from '../maintenance/reconciler.js';
import { BoardRegistrar } from '../registry/board-registrar.js';
import { DefinitionsTopic } from '../registry/definitions-topic.js';
import { openSession, type Session } from './session.js';

@Module({ imports: [ConnectionsModule, ReconcilerModule] })
class CommandModule {}

/** The settings, connections, stores and services that commands on generations use. */
export type ReconciliationSession = ReturnType<typeof sessionOf>;

function sessionOf(app: INestApplicationContext, { settings, logger }: Session) {
  const stores = app.get<Stores>(STORES);
  const redis = app.get(Redis);
  const { kafka, admin, topics } = app.get(KafkaConnection);
  return {
    ...{ settings, logger, redis, kafka, admin, topics, ...stores },
    identity: app.get(IdentityCheck),
    definitions: app.get(DefinitionsTopic),
    registrar: app.get(BoardRegistrar),
    reader: new BoardReader({ redis, prefix: stores.keys.prefix }),
    reconciler: app.get(Reconciler),
    graceMs: settings.rollbackGrace,
  };
}

/**
 * Runs `use` with the services of the role `reconciliation`, then closes them. `checks`: refuse a Redis of another ranklog.
 * @throws ServiceUnreachableError, TopicsMissingError, OtherIdentityError
 */
export async function withReconciliation<T>(
  use: (session: ReconciliationSession) => Promise<T>,
  checks = true,
): Promise<T> {
  const { settings: ours, logger } = openSession();
  const settings = { ...ours, backgroundRate: 0 }; // a command has its own limit, --throttle
  const app = await NestFactory.createApplicationContext(
    { module: CommandModule, imports: [ConfigModule.forRoot({ settings, logger, roles: [] })] },
    { logger: nestLogger(logger), abortOnError: false },
  );
  try {
    const session = sessionOf(app, { settings, logger });
    if (checks) await session.store.check();
    return await use(session);
  } finally {
    await app.close();
  }
}
