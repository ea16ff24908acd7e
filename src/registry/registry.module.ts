import { Module } from '@nestjs/common';
import { IdentityCheck } from '#board-store';
import { startsOfUnreadLog } from '../generations/log-history.js';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { STORES } from '../infra/connections.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { Logger } from '../infra/logger.js';
import type { Stores } from '../infra/redis.js';
import { BoardRegistrar } from './board-registrar.js';
import { DefinitionsTopic } from './definitions-topic.js';

@Module({
  providers: [
    {
      provide: DefinitionsTopic,
      inject: [KafkaConnection, IdentityCheck, Logger],
      useFactory: (
        { kafka, admin, topics }: KafkaConnection,
        identity: IdentityCheck,
        log: Logger,
      ) => new DefinitionsTopic(kafka, admin, topics.definitions, { log, identity }),
    },
    {
      provide: BoardRegistrar,
      inject: [STORES, DefinitionsTopic, KafkaConnection, PROCESS_OPTIONS],
      useFactory: createRegistrar,
    },
  ],
  exports: [DefinitionsTopic, BoardRegistrar],
})
export class RegistryModule {}

function createRegistrar(
  { store, continuity }: Stores,
  definitions: DefinitionsTopic,
  { admin, topics }: KafkaConnection,
  { settings, logger }: ProcessOptions,
): BoardRegistrar {
  const unreadLog = () => startsOfUnreadLog(admin, topics.scoreEvents, settings.group);
  return new BoardRegistrar(
    { store, continuity, definitions, unreadLog, log: logger },
    settings.boards,
  );
}
