import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { BoardReader, IdentityCheck } from '#board-store';
import { ConfigModule } from '../infra/config.module.js';
import { ConnectionsModule, STORES } from '../infra/connections.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { nestLogger } from '../infra/logger.js';
import type { Stores } from '../infra/redis.js';
import { ReconcilerModule } from '../maintenance/reconciler.module.js';
import { Reconciler } from '../maintenance/reconciler.js';
import { BoardRegistrar } from '../registry/board-registrar.js';
import { DefinitionsTopic } from '../registry/definitions-topic.js';
import type { KafkaSession } from './kafka-session.js';
import { openSession } from './session.js';

/** What the commands on generations work with. */
export interface ReconciliationSession extends KafkaSession, Stores {
  readonly redis: Redis;
  readonly identity: IdentityCheck;
  readonly definitions: DefinitionsTopic;
  readonly registrar: BoardRegistrar;
  readonly reader: BoardReader;
  readonly reconciler: Reconciler;
  readonly graceMs: number;
}

@Module({ imports: [ConnectionsModule, ReconcilerModule] })
class CommandModule {}

/**
 * Runs `use` on an application context of the modules of the role `reconciliation`, then closes it. Unless `checks` is false,
 * Redis has to belong to this ranklog.
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
    const stores = app.get<Stores>(STORES);
    if (checks) await stores.store.check();
    const redis = app.get(Redis);
    const { kafka, admin, topics } = app.get(KafkaConnection);
    return await use({
      ...{ settings, logger, redis, kafka, admin, topics, ...stores },
      identity: app.get(IdentityCheck),
      definitions: app.get(DefinitionsTopic),
      registrar: app.get(BoardRegistrar),
      reader: new BoardReader(redis, stores.keys),
      reconciler: app.get(Reconciler),
      graceMs: settings.rollbackGrace,
    });
  } finally {
    await app.close();
  }
}
