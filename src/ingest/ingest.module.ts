import { Module } from '@nestjs/common';
import { BoardStore, ContinuityStore } from '#board-store';
import type { Settings } from '../config/settings.js';
import { ProgressWatch } from '../health/progress-watch.js';
import { PROCESS_OPTIONS, SETTINGS, type ProcessOptions } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { Logger } from '../infra/logger.js';
import { Maintenance } from '../maintenance/maintenance.js';
import { BoardRegistrar } from '../registry/board-registrar.js';
import { DefinitionsTopic } from '../registry/definitions-topic.js';
import { RegistryModule } from '../registry/registry.module.js';
import { IngestController } from './ingest.controller.js';
import { LiveBoards } from './live-boards.js';
import { IngestServices } from './partition-ingest.js';
import { ResultLog } from './result-log.js';
import { Resync, type KeptInKafka } from './resync.js';
import { ScoreLog } from './score-log.js';
import { TransportModule } from './transport.module.js';

const KEPT_IN_KAFKA = Symbol('KeptInKafka');

/** The role `ingest`: score topic -> boards -> result topics. */
@Module({
  imports: [RegistryModule, TransportModule],
  controllers: [IngestController],
  providers: [
    {
      provide: ScoreLog,
      inject: [KafkaConnection],
      useFactory: ({ kafka, topics }: KafkaConnection) => new ScoreLog(kafka, topics.scoreEvents),
    },
    {
      provide: ResultLog,
      inject: [KafkaConnection, SETTINGS],
      useFactory: ({ kafka, admin }: KafkaConnection, settings: Settings) =>
        new ResultLog(kafka, admin, settings),
    },
    {
      provide: LiveBoards,
      inject: [BoardStore, BoardRegistrar, PROCESS_OPTIONS],
      useFactory: (store: BoardStore, registrar: BoardRegistrar, { roles }: ProcessOptions) =>
        new LiveBoards(store, async () => {
          if (roles.includes('reconciliation')) await registrar.register();
        }),
    },
    {
      provide: KEPT_IN_KAFKA,
      inject: [ResultLog, ScoreLog, BoardStore, DefinitionsTopic],
      useFactory: keptInKafka,
    },
    {
      provide: Resync,
      inject: [ContinuityStore, KEPT_IN_KAFKA, Logger],
      useFactory: (continuity: ContinuityStore, kafka: KeptInKafka, logger: Logger) =>
        new Resync(continuity, kafka, logger),
    },
    {
      provide: Maintenance,
      inject: [LiveBoards, Logger],
      useFactory: (boards: LiveBoards, logger: Logger) =>
        new Maintenance([expiredViews(boards, logger)], logger),
    },
    IngestServices,
    ProgressWatch,
  ],
})
export class IngestModule {}

function keptInKafka(
  resultLog: ResultLog,
  scoreLog: ScoreLog,
  store: BoardStore,
  definitions: DefinitionsTopic,
): KeptInKafka {
  return {
    finalPositions: async () => resultLog.finalPositions(await scoreLog.partitions(), store),
    definitionRecords: () => definitions.readAll(),
  };
}

function expiredViews(boards: LiveBoards, logger: Logger) {
  return {
    onFailure: 'expired views could not be removed',
    everyMs: 5_000,
    run: (signal: AbortSignal) => boards.deleteExpiredViews(logger, signal),
  };
}
